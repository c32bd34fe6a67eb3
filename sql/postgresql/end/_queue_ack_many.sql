-- calls: _queue_end, _queue_lock_lines, _queue_members_end, _queue_members_settle, _queue_move_many,
--     _queue_permits_settle
create or replace function _queue_ack_many(in_entries bigint[], in_secrets bytea[], in_options jsonb, in_now bigint)
    returns text[] language plpgsql as $$
declare
    v_outcomes text[] := array_fill('lost'::text, array[cardinality(in_entries)]);
    v_look record; v_done record;
    v_members bigint[]; v_place bigint;
begin
    select min(q.p_kind) <> max(q.p_kind) or bool_or(q.order_key is not null) as mixed,
        in_options is not null or bool_or(q.route is not null and q.source_kind is null) as onward,
        bool_or(q.member is not null) as grouped
    into v_look from delayed_queue q where q.entry = any (in_entries);
    if v_look.onward then
        return (
            select _queue_move_many(in_entries, in_secrets, array_agg(coalesce(in_options ->> 'to', case
                    when q.source_kind is null then q.route ->> 0 end) order by r.n), array_agg(coalesce(
                nullif(in_options, 'null'), '{}') - '{to}'::text[] || '{"next": true}' order by r.n), in_now)
            from unnest(in_entries, in_secrets) with ordinality r (entry, secret, n)
            left join delayed_queue q on q.entry between r.entry and r.entry and q.secret = r.secret);
    elsif v_look.grouped or v_look.mixed and cardinality(in_entries) > 1 then
        -- to wait for a message with another deleted, whose key a dead letter may be waiting for, could be a deadlock
        perform _queue_lock_lines(in_entries, null::bigint[]);
        v_members := array(
            select q.member from unnest(in_entries, in_secrets) r (entry, secret)
            join delayed_queue q on q.entry between r.entry and r.entry and q.secret = r.secret
            where q.member is not null);
    end if;
    v_done := _queue_end(in_entries, in_secrets, 'acked', null::text, in_now);
    foreach v_place in array v_done.places loop
        v_outcomes[v_place] := 'acked';
    end loop;
    perform _queue_members_end(v_members, 'acked', null::jsonb, in_now) where v_members <> '{}';
    perform _queue_members_settle(in_now);
    perform _queue_permits_settle(v_done.guarded, null::text[], true, in_now)
        where v_done.guarded is not null or v_members <> '{}';
    return v_outcomes;
end $$;

comment on function _queue_ack_many(bigint[], bytea[], jsonb, bigint) is
$$The long way of queue_ack and queue_ack_many: with options, on a route, in a group, or with semaphores.
in_entries, in_secrets: the receipts, taken apart, each once. in_options: those of queue_ack, checked. in_now: the time
of the call.
Result: the outcomes, in the order of the receipts: acked, moved, duplicate, lost.
Locks: where one moves on, as _queue_move_many; else as _queue_end, then as _queue_members_settle, then semaphores.
differs: on MariaDB and MySQL it is queue_ack_many without its transaction.$$;
