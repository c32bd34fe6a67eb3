-- calls: _queue_end, _queue_lock_lines, _queue_move_many
create or replace function _queue_ack_each(in_entries bigint[], in_secrets bytea[], in_options jsonb, in_now bigint)
    returns text[] language plpgsql as $$
declare
    v_outcomes text[] := array_fill('lost'::text, array[cardinality(in_entries)]);
    v_place bigint;
    v_look record;
    v_kinds text[];
begin
    select min(q.p_kind) <> max(q.p_kind) or bool_or(q.order_key is not null) as ordered,
        bool_or(num_nonnulls(q.route, q.member, q.semaphores) > 0) as onward
    into v_look from delayed_queue q where q.entry = any (in_entries);
    if in_options is null and v_look.onward is not true then
        if v_look.ordered and cardinality(in_entries) > 1 then
            perform _queue_lock_lines(in_entries, null::bigint[]); -- as in queue_ack_many
        end if;
        foreach v_place in array
            (_queue_end(in_entries, in_secrets, 'acked', null::text, in_now)).places
        loop
            v_outcomes[v_place] := 'acked';
        end loop;
        return v_outcomes;
    end if;
    v_kinds := array(
        select coalesce(in_options ->> 'to', case when q.source_kind is null then q.route ->> 0 end)
        from unnest(in_entries, in_secrets) with ordinality r (entry, secret, n)
        left join delayed_queue q on q.entry between r.entry and r.entry and q.secret = r.secret order by r.n);
    return _queue_move_many(in_entries, in_secrets, v_kinds, array_fill(
        coalesce(nullif(in_options, 'null'), '{}') - '{to}'::text[] || '{"next": true}',
        array[cardinality(in_entries)]), in_now);
end $$;

comment on function _queue_ack_each(bigint[], bytea[], jsonb, bigint) is
$$The long way of queue_ack and queue_ack_many: with options, with something to keep, in a line, on a route, in a group,
or with semaphores.
in_entries, in_secrets: the receipts, taken apart, each once. in_options: those of queue_ack, checked. in_now: the time
of the call.
Result: the outcomes, in the order of the receipts: acked, moved, duplicate, lost.
Locks: the messages and the next in the lines of their order keys, in the order of their entries, then as _queue_end;
with options, on a route, in a group or with semaphores as _queue_move_many.$$;
