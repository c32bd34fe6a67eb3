-- calls: _queue_carry_route, _queue_index, _queue_log_put, _queue_newest, _queue_put
-- changes: delayed_queue
create or replace function _queue_put_pending(in_row delayed_queue, in_now bigint) returns void language plpgsql as $$
declare
    v_put record;
    v_entry bigint;
begin
    if in_row.pending is null then
        return;
    end if;
    in_row := _queue_newest(in_row);
    v_put := _queue_put(in_row.p_kind, in_row.p_key, in_row.payload, in_row.payload_bytes, in_row.headers,
        in_row.priority, in_now, greatest((in_row.pending ->> 'scheduled_at')::bigint, in_now), 0, in_row.max_attempts,
        'ignore');
    if v_put.outcome = 'created' then
        perform _queue_index(array(select q.entry from delayed_queue q
            where q.p_kind = in_row.p_kind and q.p_key = in_row.p_key));
    end if;
    if num_nonnulls(in_row.route, in_row.member, in_row.order_key, in_row.semaphores) > 0
        and v_put.outcome = 'created' then
        v_entry := _queue_carry_route(in_row, in_row.p_kind, in_row.p_key);
        if in_row.order_key is not null then
            -- nobody comes or goes in its line until this commits, since its first has just ended; the next is first by
            -- now
            update delayed_queue q
            set order_key = in_row.order_key, order_waits = h.waits, ready_at = case
                when h.waits is null then q.ready_at end, due_at = case when h.waits is null then q.due_at end
            from (
                select bool_or(true) as waits from delayed_queue f
                where f.p_kind = in_row.p_kind and f.order_key = in_row.order_key and f.order_key is not null
                    and f.order_waits is null) h
            where q.entry = v_entry;
        end if;
    end if;
    perform _queue_log_put(in_row.p_kind, in_row.p_key, v_put.outcome, null, in_now);
end $$;

comment on function _queue_put_pending(delayed_queue, bigint) is
$$Puts in what was pushed onto a message while somebody held it, as a new entry, once that delivery is done. It
has the same route before it, names the same semaphores, is the same member, and stands at the end of the line of its
order key.
in_row: the message (member NULL where its membership has ended, or goes on elsewhere), which has just been removed;
nothing happens where nothing was pushed onto it.
in_now: the time of the call.
differs: on MariaDB and MySQL it is a part of _queue_end.$$;
