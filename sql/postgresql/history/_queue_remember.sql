-- calls: _queue_history_row, _queue_log_ended, _queue_wake_limited
-- changes: queue_dedup, queue_history
create or replace function _queue_remember(in_row delayed_queue, in_outcome text, in_to_kind text,
    in_now bigint) returns void
    language plpgsql as $$
declare
    v_kind queue_kind;
begin
    select k.* into v_kind from queue_kind k
    where k.p_kind = in_row.p_kind
        and (k.history_seconds > 0 or k.dedup_seconds > 0 or k.max_reserved is not null or k.log_seconds > 0);
    if not found then
        return;
    end if;
    if v_kind.max_reserved is not null then
        perform _queue_wake_limited(in_row.p_kind);
    end if;
    if v_kind.history_seconds > 0 then
        insert into queue_history select e.* from _queue_history_row(in_row, in_outcome, in_to_kind, in_now) e;
    end if;
    if v_kind.dedup_seconds > 0 and in_outcome in ('acked', 'popped', 'moved') then
        insert into queue_dedup (p_kind, p_key, ended_at) values (in_row.p_kind, in_row.p_key, in_now)
        on conflict on constraint queue_dedup_pkey do update set ended_at = excluded.ended_at;
    end if;
    if v_kind.log_seconds > 0 then
        perform _queue_log_ended(array[in_row.p_kind], array[in_row.p_key], array[in_row.entry], in_outcome, in_to_kind,
            in_now);
    end if;
end $$;

comment on function _queue_remember(delayed_queue, text, text, bigint) is
$$Keeps what a kind wants kept of a message that ends: its history, its key. Routines that end many at once have the
same in one statement.
in_row: the message, removed already. in_outcome, in_to_kind: see _queue_history_row. in_now: the time of the call.
differs: a row can't be a parameter on MariaDB and MySQL; _queue_end does it.$$;
