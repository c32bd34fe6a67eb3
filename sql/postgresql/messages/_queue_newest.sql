create or replace function _queue_newest(in_row delayed_queue) returns delayed_queue language plpgsql as $$
begin
    if in_row.pending ? 'content' then
        in_row.payload := case when in_row.pending_bytes is null then in_row.pending -> 'payload' end;
        in_row.payload_bytes := in_row.pending_bytes;
        in_row.headers := nullif(in_row.pending -> 'headers', 'null');
    end if;
    return in_row;
end $$;

comment on function _queue_newest(delayed_queue) is
$$A message with its newest content.
in_row: the message.
Result: the message, its payload and headers replaced by those that were pushed onto it while it was held, if any.
differs: a row can't be a parameter on MariaDB and MySQL, where what is pending has columns of its own.$$;
