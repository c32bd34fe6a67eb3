-- calls: _queue_end, _queue_join_line, _queue_lock_moves, _queue_members_end, _queue_move, _queue_permits_settle
-- changes: queue_history
create or replace function _queue_move_each(in_entries bigint[], in_secrets bytea[], in_to_kinds text[],
    in_options jsonb[], in_now bigint)
    returns text[] language plpgsql as $$
declare
    v_outcomes text[] := array_fill('lost'::text, array[cardinality(in_entries)]);
    v_place bigint;
    v_row delayed_queue;
    v_done record;
    v_members bigint[];
    v_names text[];
    v_created bigint[];
    v_orders text[];
begin
    foreach v_place in array _queue_lock_moves(in_entries, in_secrets, in_to_kinds,
        array(select o.options ->> 'key' from unnest(in_options) with ordinality o (options, n) order by o.n))
    loop
        select q.* into v_row from delayed_queue q where q.entry = in_entries[v_place]
            and q.secret = in_secrets[v_place] for update;
        continue when not found;
        v_names := v_names || v_row.semaphores;
        if in_to_kinds[v_place] is null then
            v_outcomes[v_place] := 'acked';
            v_row := _queue_end(v_row.entry, 'acked', null, in_now);
            v_members := case when v_row.member is null then v_members else v_members || v_row.member end;
        else
            v_done := _queue_move(v_row.entry, in_to_kinds[v_place], in_options[v_place], in_now);
            v_outcomes[v_place] := v_done.outcome;
            if v_row.order_key is not null and v_done.created is not null then
                v_created := v_created || v_done.created;
                v_orders := v_orders || v_row.order_key;
            end if;
        end if;
        if in_options[v_place] ? 'result' then
            update queue_history h set result = in_options[v_place] -> 'result'
            where h.p_kind = v_row.p_kind and h.finished_at = in_now and h.entry = v_row.entry;
        end if;
    end loop;
    perform _queue_join_line(v_created, v_orders) where v_created is not null;
    if v_members is not null then
        perform _queue_members_end(v_members, 'acked', in_options[1] -> 'result', in_now);
    end if;
    perform _queue_permits_settle(in_entries, v_names, true, in_now) where v_names is not null;
    return v_outcomes;
end $$;

comment on function _queue_move_each(bigint[], bytea[], text[], jsonb[], bigint) is
$$Acks messages, or moves them on, one by one, as in _queue_move_many.
in_entries, in_secrets, in_to_kinds, in_options, in_now: as there.
Result: as there.
Errors: those of queue_move; PQ00A where it has to be made again.
Locks: as _queue_lock_moves; then the lines of order keys as _queue_join_line, once all keys are in; then as
_queue_members_end and _queue_permits_settle.
differs: on MariaDB and MySQL it is a part of queue_move_many.$$;
