create or replace function queue_push_bytes(in_kind text, in_key text default null, in_payload_bytes bytea default null,
    in_options jsonb default null, out p_kind text, out p_key text, out scheduled_at bigint, out outcome text)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
    v_now constant bigint := queue_now();
    v_options record;
    v_put record;
begin
    perform _queue_check_kind(in_kind, 95);
    p_kind := in_kind;
    p_key := coalesce(in_key, _queue_key(v_now));
    perform _queue_check_key(p_key);
    if in_payload_bytes is null then
        perform _queue_fail('PQ003', 'payload_bytes', null, 'must be bytes (none at all, '''', is fine)');
    end if;
    v_options := _queue_push_options(in_options, v_now);
    v_put := _queue_put(p_kind, p_key, null, in_payload_bytes, v_options.headers, v_options.priority, v_now,
        v_options.scheduled_at, v_options.attempts, v_options.max_attempts, v_options.on_duplicate);
    scheduled_at := v_put.scheduled_at;
    outcome := v_put.outcome;
end $$;

comment on function queue_push_bytes(text, text, bytea, jsonb) is
$$Puts one message with a binary payload into a kind; it comes back byte for byte.
in_payload_bytes: the payload. The other parameters, the result, the errors and the locks are those of queue_push.$$;
