create or replace function _queue_ack_each(in_entries bigint[], in_secrets bytea[], in_options jsonb, in_now bigint)
    returns text[] language plpgsql as $$
declare
    v_outcomes text[] := array_fill('lost'::text, array[cardinality(in_entries)]);
    v_kinds text[];
    v_place bigint;
    v_row delayed_queue;
    v_members bigint[];
    v_names text[];
begin
    v_kinds := array(
        select coalesce(in_options ->> 'to', case when q.source_kind is null then q.route ->> 0 end)
        from unnest(in_entries, in_secrets) with ordinality r (entry, secret, n)
        left join delayed_queue q on q.entry between r.entry and r.entry and q.secret = r.secret order by r.n);
    foreach v_place in array _queue_lock_moves(in_entries, in_secrets, v_kinds, array_fill(null::text, array[cardinality(in_entries)])) loop
        select q.* into v_row from delayed_queue q where q.entry = in_entries[v_place] and q.secret = in_secrets[v_place] for update;
        continue when not found;
        v_names := v_names || v_row.semaphores;
        if v_kinds[v_place] is not null then
            v_outcomes[v_place] := _queue_move(in_entries[v_place], in_secrets[v_place], v_kinds[v_place],
                coalesce(nullif(in_options, 'null'), '{}') - '{to}'::text[] || '{"next": true}', in_now);
        else
            v_outcomes[v_place] := 'acked';
            v_row := _queue_end(v_row.entry, 'acked', null, in_now);
            v_members := case when v_row.member is null then v_members else v_members || v_row.member end;
        end if;
        if in_options ? 'result' then
            update queue_history h set result = in_options -> 'result'
            where h.p_kind = v_row.p_kind and h.finished_at = in_now and h.entry = v_row.entry;
        end if;
    end loop;
    if v_members is not null then
        perform _queue_members_end(v_members, 'acked', in_options -> 'result', in_now);
    end if;
    perform _queue_slot_settle(in_entries, v_names, true, in_now) where v_names is not null;
    return v_outcomes;
end $$;

comment on function _queue_ack_each(bigint[], bytea[], jsonb, bigint) is
$$The long way of queue_ack and queue_ack_many: with options, on a route, in a group, or with semaphores.
in_entries, in_secrets: the receipts, taken apart, each once. in_options: those of queue_ack, checked. in_now: the time of the call.
Result: the outcomes, in the order of the receipts: acked, moved, duplicate, lost.
Locks: the messages, and those that have their keys where they go, in the order of their entries; then
as _queue_members_end and _queue_slot_settle.$$;
