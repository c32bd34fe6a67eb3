-- calls: _queue_check_name, _queue_check_roles, _queue_state, queue_now
create or replace function queue_get(in_kind text, in_key text)
    returns table (p_kind text, p_key text, payload jsonb, payload_bytes bytea, headers jsonb,
        priority smallint, scheduled_at bigint, scheduled_at_initially bigint, created_at bigint, reserved_at bigint,
        attempts integer, reserved_by text, state text, errors jsonb)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
begin
    perform _queue_check_name(in_kind, 100, 'kind');
    perform _queue_check_roles(array[in_kind]);
    perform _queue_check_name(in_key, 200, 'key');
    return query
        select q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
            q.scheduled_at_initially, q.created_at, q.reserved_at, q.attempts, q.reserved_by,
            _queue_state(q.ready_at, q.due_at, q.reserved_at, q.scheduled_at, v_now), q.errors
        from delayed_queue q where q.p_kind = in_kind and q.p_key = in_key;
end $$;

comment on function queue_get(text, text) is
$$Looks at one message and changes nothing.
in_kind: the kind. in_key: the key.
Result: the columns, times in microseconds; state: scheduled, ready, reserved, expired, waiting (in line for something
else than time); and errors, the last ten, the newest last: a JSON array of {at, attempt, by, error}, NULL for none. No
row where there is no message.
Errors: PQ007 for a kind that is for others. PQ001 for kind and key.
Locks: none.$$;
