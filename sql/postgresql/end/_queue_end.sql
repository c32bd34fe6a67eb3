-- calls: _queue_advance, _queue_put_pending, _queue_remember
-- changes: delayed_queue, queue_count
create or replace function _queue_end(in_entry bigint, in_outcome text, in_to_kind text,
    in_now bigint) returns delayed_queue
    language plpgsql as $$
declare
    v_row delayed_queue;
    v_new delayed_queue;
begin
    delete from delayed_queue q where q.entry = in_entry returning q.* into v_row;
    insert into queue_count (p_kind, pushed, reserved, popped, acked, moved, dead)
    values (v_row.p_kind, (v_row.source_kind is null)::integer,
        case when in_outcome in ('acked', 'moved', 'removed') then (v_row.reserved_at is not null)::integer end,
        case in_outcome when 'popped' then 1 end, case in_outcome when 'acked' then 1 end, case in_outcome
        when 'moved' then 1 end, case in_outcome when 'dead' then 1 end);
    if in_outcome is not null then
        perform _queue_remember(v_row, in_outcome, in_to_kind, in_now);
    end if;
    if v_row.order_key is not null then
        perform _queue_advance(array[v_row.p_kind], array[v_row.order_key], in_now);
    end if;
    if v_row.pending is not null then
        v_new := v_row;
        v_new.member := case when in_outcome is null then v_row.member end;
        perform _queue_put_pending(v_new, in_now);
    end if;
    return v_row;
end $$;

comment on function _queue_end(bigint, text, text, bigint) is
$$Ends a message: keeps what its kind wants kept of it (its history, its key), removes it, and puts in what was pushed
onto it while it was held, as a new entry with the same route before it, and the same semaphores; which is
the same member of its group where it takes the place of this one, and stands at the end of the line of its order key.
in_entry: the message, locked already. in_outcome: acked, popped, moved, dead, removed; NULL: it makes room for what is
pending, and nothing is kept. in_to_kind: where it went, NULL: nowhere.
in_now: the time of the call.
Result: the message as it was. Its caller ends the member of a group, and at the end of the call has
_queue_permits_settle free its semaphores. That it was held is counted here where it was acked, moved or removed; else
by whoever ends the hold. What is ended in one statement instead, because it is plain or a batch, is so in queue_ack,
queue_ack_many, queue_pop and _queue_deliver.
Locks: the next in the line of its order key.$$;
