-- calls: _queue_check_fit, _queue_check_key, _queue_check_kind, _queue_check_roles, _queue_enrol, _queue_fail,
--     _queue_index, _queue_is_remembered, _queue_key, _queue_log_put, _queue_permits_pushed, _queue_push_options,
--     _queue_put, _queue_put_in_line, _queue_route, _queue_semaphores, _queue_take_back, queue_now
-- changes: delayed_queue
create or replace function _queue_push(in_kind text, in_key text, in_payload jsonb, in_payload_bytes bytea,
    in_options jsonb, out p_kind text, out p_key text, out scheduled_at bigint, out outcome text) language plpgsql as $$
declare
    v_now constant bigint := queue_now();
    v_key constant text := coalesce(in_key, _queue_key(v_now));
    v_shape jsonb;
    v_since bigint;
    v_draining boolean;
    v_filter boolean;
    v_logs boolean;
    v_restricted boolean;
    v_options record;
    v_put record;
begin
    if in_payload_bytes is null then
        in_payload := coalesce(in_payload, 'null');
    end if;
    perform _queue_check_kind(in_kind, 95, 'kind');
    p_kind := in_kind;
    p_key := v_key;
    perform _queue_check_key(v_key, 'key');
    select k.payload_shape, v_now - (nullif(k.dedup_seconds, 0) * 1000000)::bigint, k.draining, k.filter_index,
        k.log_seconds > 0, k.roles is not null
    into v_shape, v_since, v_draining, v_filter, v_logs, v_restricted
    from queue_kind k where k.p_kind = in_kind;
    if v_restricted then
        perform _queue_check_roles(array[in_kind]);
    end if;
    if v_draining then
        perform _queue_fail('PQ004', 'kind', in_kind, 'takes in nothing while it is drained');
    elsif v_shape is not null then
        perform _queue_check_fit(v_shape, in_payload, 'payload');
    end if;
    if v_since is not null and _queue_is_remembered(in_kind, v_key, v_since) then
        perform _queue_push_options(in_options, v_now);
        outcome := 'ignored';
        return;
    end if;
    if in_options is null then
        v_put := _queue_put(in_kind, v_key, in_payload, in_payload_bytes, null::jsonb, 0::smallint, v_now, v_now, 0,
            null::integer, 'ignore');
    else
        v_options := _queue_push_options(in_options, v_now);
        if in_options ->> 'order_key' is null then
            v_put := _queue_put(in_kind, v_key, in_payload, in_payload_bytes, v_options.headers, v_options.priority,
                v_now, v_options.scheduled_at, v_options.attempts, v_options.max_attempts, v_options.on_duplicate);
        else
            v_put := _queue_put_in_line(in_kind, v_key, in_payload, in_payload_bytes, v_options.headers,
                v_options.priority, v_now, v_options.scheduled_at, v_options.attempts, v_options.max_attempts,
                v_options.on_duplicate, in_options ->> 'order_key');
        end if;
        if v_put.outcome = 'created' and in_options ? 'route' then
            update delayed_queue q set route = _queue_route(in_options, null::jsonb)
                where q.p_kind = in_kind and q.p_key = v_key;
        end if;
    end if;
    scheduled_at := v_put.scheduled_at;
    outcome := v_put.outcome;
    if v_since is not null and outcome = 'created' and _queue_take_back(array(
        select q.entry from delayed_queue q where q.p_kind = in_kind and q.p_key = v_key), v_now) <> '{}' then
        scheduled_at := null;
        outcome := 'ignored';
    end if;
    if v_filter and outcome in ('created', 'replaced') then
        perform _queue_index(array(select q.entry from delayed_queue q where q.p_kind = in_kind and q.p_key = v_key));
    end if;
    if outcome = 'created' and in_options ->> 'group' is not null then
        perform _queue_enrol(array[in_options ->> 'group'], array(
            select q.entry from delayed_queue q where q.p_kind = in_kind and q.p_key = v_key));
    end if;
    if outcome = 'replaced' or outcome = 'created' and in_options ? 'semaphores' then
        perform _queue_permits_pushed(in_kind, array[v_key], _queue_semaphores(in_options, null::jsonb),
            outcome = 'created', v_now);
    end if;
    if v_logs then
        perform _queue_log_put(in_kind, v_key, outcome, in_options ->> 'on_duplicate', v_now);
    end if;
end $$;

comment on function _queue_push(text, text, jsonb, bytea, jsonb) is
$$Puts one message, whose payload is checked already but for payload_shape: queue_push and queue_push_bytes.
in_payload, in_payload_bytes: one of the two; neither: a payload of JSON null. The other parameters, the result, the
errors and the locks are those of queue_push.$$;
