-- calls: _queue_fail, _queue_push
create or replace function queue_push_bytes(in_kind text, in_key text default null, in_payload_bytes bytea default null,
    in_options jsonb default null, out p_kind text, out p_key text, out scheduled_at bigint, out outcome text)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
begin
    if in_payload_bytes is null then
        perform _queue_fail('PQ003', 'payload_bytes', null, 'must be bytes (none at all, '''', is fine)');
    end if;
    select p.* into p_kind, p_key, scheduled_at, outcome
        from _queue_push(in_kind, in_key, null::jsonb, in_payload_bytes, in_options) p;
end $$;

comment on function queue_push_bytes(text, text, bytea, jsonb) is
$$Puts one message with a binary payload into a kind; it comes back byte for byte.
in_payload_bytes: the payload. The other parameters, the result, the errors and the locks are those of queue_push.$$;
