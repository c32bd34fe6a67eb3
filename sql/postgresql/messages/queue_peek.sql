-- calls: _queue_check_count, _queue_check_name, _queue_check_options, _queue_check_roles, _queue_state, _queue_where,
--     queue_now
create or replace function queue_peek(in_kind text, in_max_messages integer default null, in_options jsonb default null)
    returns table (p_kind text, p_key text, payload jsonb, payload_bytes bytea, headers jsonb,
        priority smallint, scheduled_at bigint, scheduled_at_initially bigint, created_at bigint, reserved_at bigint,
        attempts integer, reserved_by text, state text, errors jsonb)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_most constant integer := coalesce(in_max_messages, 1);
    v_where jsonb;
begin
    perform _queue_check_name(in_kind, 100, 'kind');
    perform _queue_check_roles(array[in_kind]);
    perform _queue_check_count(v_most::bigint, 'max_messages', 10000::bigint);
    perform _queue_check_options(in_options, '{where}'::text[], 'options');
    v_where := _queue_where(in_options);
    return query
        select q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
            q.scheduled_at_initially, q.created_at, q.reserved_at, q.attempts, q.reserved_by,
            _queue_state(q.ready_at, q.due_at, q.reserved_at, q.scheduled_at, v_now), q.errors
        from (
            (select l.entry, 1 as part, -l.priority::integer as rank, l.ready_at as place from delayed_queue l
                where l.p_kind = in_kind and l.ready_at is not null
                    and (v_where is null or l.payload @> v_where or l.headers @> v_where)
                order by l.p_kind, -l.priority::integer, l.ready_at, l.entry limit v_most)
            union all
            (select t.entry, case when t.scheduled_at <= v_now then 1 else 2 end,
                case when t.scheduled_at <= v_now then -t.priority::integer end, t.due_at from delayed_queue t
                where t.p_kind = in_kind and t.due_at is not null
                    and (v_where is null or t.payload @> v_where or t.headers @> v_where)
                order by t.p_kind, t.due_at limit v_most)
            union all
            (select w.entry, 3, null, w.entry from delayed_queue w
                where w.p_kind = in_kind and w.order_waits
                    and (v_where is null or w.payload @> v_where or w.headers @> v_where)
                order by w.p_kind, w.order_key, w.entry limit v_most)
            union all
            (select w.entry, 3, null, w.entry from queue_semaphore_wait w
                where w.p_kind between in_kind and in_kind and (v_where is null or ( -- BETWEEN, and not EXISTS: ADR 13
                    select coalesce(m.payload @> v_where, false) or coalesce(m.headers @> v_where, false)
                        from delayed_queue m where m.entry = w.entry))
                order by w.p_kind, w.name, w.entry limit v_most)) p
        join delayed_queue q on q.entry between p.entry and p.entry
        order by p.part, p.rank, p.place, p.entry limit v_most;
end $$;

comment on function queue_peek(text, integer, jsonb) is
$$Looks at messages of a kind and changes nothing.
in_kind: the kind.
in_max_messages: how many at the most, 1 to 10000; NULL: 1.
in_options: which ones.
- where: shows only messages that contain this object, as in queue_reserve. The call reads what stands before them,
  whatever index the kind has. Allowed: an object of at most 16 values. Default: all messages.
Result: the columns, times in microseconds, state and errors (see queue_get), in the order of delivery: first what is
ready or held in its place, then what waits for its time, then what waits in the lines of order keys and semaphores.
Where more waits in lines than is asked for, the lines decide which of it is shown.
Errors: PQ007 for a kind that is for others. PQ001 for kind and max_messages, PQ002 for options.
Locks: none.$$;
