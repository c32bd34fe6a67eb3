-- calls: _queue_check_fit, _queue_check_headers, _queue_end, _queue_fail, _queue_join_line, _queue_lock_moves,
--     _queue_members_end, _queue_members_settle, _queue_permits_settle, _queue_put
-- changes: queue_history
create or replace function _queue_move(in_entries bigint[], in_secrets bytea[], in_to_kinds text[],
    in_options jsonb[], in_now bigint)
    returns text[] language plpgsql as $$
declare
    v_outcomes text[] := array_fill('lost'::text, array[cardinality(in_entries)]);
    v_place bigint;
    v_row delayed_queue;
    v_to_kind text;
    v_options jsonb;
    v_shape jsonb; v_draining boolean;
    v_put record;
    v_members bigint[];
    v_settle bigint[] := in_entries; v_names text[];
    v_order text; v_created bigint[]; v_orders text[];
begin
    foreach v_place in array _queue_lock_moves(in_entries, in_secrets, in_to_kinds,
        array(select o.options ->> 'key' from unnest(in_options) with ordinality o (options, n) order by o.n))
    loop
        select q.* into v_row from delayed_queue q where q.entry = in_entries[v_place]
            and q.secret = in_secrets[v_place] for update;
        continue when not found;
        v_names := v_names || v_row.semaphores;
        v_options := in_options[v_place];
        v_to_kind := in_to_kinds[v_place];
        perform _queue_end(array[v_row.entry], null::bytea[], case when v_to_kind is null then 'acked' else 'moved' end,
            v_to_kind, in_now);
        if v_options ? 'result' then
            update queue_history h set result = v_options -> 'result'
            where h.p_kind = v_row.p_kind and h.finished_at = in_now and h.entry = v_row.entry;
        end if;
        if v_to_kind is null then
            v_outcomes[v_place] := 'acked';
            v_members := case when v_row.member is null then v_members else v_members || v_row.member end;
            continue;
        end if;
        if v_options ? 'payload' then
            v_row.payload := v_options -> 'payload';
            v_row.payload_bytes := null;
        end if;
        select k.payload_shape, k.draining and v_to_kind <> v_row.p_kind into v_shape, v_draining
        from queue_kind k where k.p_kind = v_to_kind;
        if v_draining then
            perform _queue_fail('PQ004', format('to_kind of "%s"', left(v_row.p_key, 40)), v_to_kind,
                'takes in nothing while it is drained');
        elsif v_shape is not null then
            perform _queue_check_fit(v_shape, v_row.payload, format('payload of "%s"', left(v_row.p_key, 40)));
        end if;
        v_row.p_kind := v_to_kind;
        v_row.p_key := coalesce(v_options ->> 'key', v_row.p_key);
        if v_options ? 'headers' then
            v_row.headers := _queue_check_headers(v_options -> 'headers', 'headers');
        end if;
        v_row.priority := coalesce((v_options ->> 'priority')::numeric::smallint, v_row.priority);
        v_row.scheduled_at := in_now + (coalesce((v_options ->> 'delay_seconds')::numeric, 0) * 1000000)::bigint;
        v_row.attempts := 0;
        v_row.max_attempts := null;
        if (v_options ->> 'next')::boolean then
            v_row.route := nullif(v_row.route - 0, '[]');
        end if;
        v_order := v_row.order_key;
        v_row.order_key := null; -- it takes its place once all are in
        v_put := _queue_put(v_row, coalesce(v_options ->> 'on_duplicate', 'ignore'), null::bigint, in_now);
        v_settle := v_settle || v_put.entry;
        v_names := v_names || v_put.waits_for;
        v_outcomes[v_place] := case v_put.outcome when 'ignored' then 'duplicate' else 'moved' end;
        if v_put.outcome <> 'created' then
            perform _queue_members_end(array[v_row.member], 'duplicate', v_options -> 'result', in_now)
                where v_row.member is not null;
        elsif v_order is not null then
            v_created := v_created || v_put.entry;
            v_orders := v_orders || v_order;
        end if;
    end loop;
    perform _queue_join_line(v_created, v_orders) where v_created is not null;
    perform _queue_members_end(v_members, 'acked', in_options[1] -> 'result', in_now) where v_members is not null;
    perform _queue_members_settle(in_now);
    perform _queue_permits_settle(v_settle, v_names, true, in_now)
        where v_names is not null or v_members is not null or 'duplicate' = any (v_outcomes);
    return v_outcomes;
end $$;

comment on function _queue_move(bigint[], bytea[], text[], jsonb[], bigint) is
$$Acks messages, or moves them on, in the order of their keys: what _queue_move_many does once.
in_entries, in_secrets, in_to_kinds, in_options, in_now: as there.
Result: as there.
Errors: those of queue_move; PQ00A where it has to be made again.
Locks: as _queue_lock_moves; then as _queue_end and the keys of the targets; then the lines of order keys as
_queue_join_line, once all keys are in; then as _queue_members_settle and _queue_permits_settle.
differs: on MariaDB and MySQL one message, which is moved.$$;
