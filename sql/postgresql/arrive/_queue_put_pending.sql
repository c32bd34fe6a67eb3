-- calls: _queue_newest, _queue_put
create or replace function _queue_put_pending(in_row delayed_queue, in_now bigint) returns void language plpgsql as $$
begin
    if in_row.pending is null then
        return;
    end if;
    in_row := _queue_newest(in_row);
    in_row.scheduled_at := greatest((in_row.pending ->> 'scheduled_at')::bigint, in_now);
    in_row.attempts := 0;
    -- nobody comes or goes in its line until this commits, since its first has just ended; the next is first by now
    select bool_or(true) into in_row.order_waits from delayed_queue f
    where f.p_kind = in_row.p_kind and f.order_key = in_row.order_key and f.order_key is not null
        and f.order_waits is null;
    perform _queue_put(in_row, 'ignore', null::bigint, in_now);
end $$;

comment on function _queue_put_pending(delayed_queue, bigint) is
$$Puts in what was pushed onto a message while somebody held it, as a new entry, once that delivery is done. It
has the same route before it, names the same semaphores, is the same member, and stands at the end of the line of its
order key.
in_row: the message (member NULL where its membership has ended, or goes on elsewhere), which has just been removed;
nothing happens where nothing was pushed onto it.
in_now: the time of the call.
differs: on MariaDB and MySQL it is a part of _queue_end.$$;
