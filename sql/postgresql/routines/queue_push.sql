create or replace function queue_push(in_kind text, in_key text default null, in_payload jsonb default null,
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
    perform _queue_check_payload(in_payload);
    if in_options is null then
        v_put := _queue_put(p_kind, p_key, in_payload, null, null, 0::smallint, v_now, v_now, 0, null, 'ignore');
    else
        v_options := _queue_push_options(in_options, v_now);
        v_put := _queue_put(p_kind, p_key, in_payload, null, v_options.headers, v_options.priority, v_now,
            v_options.scheduled_at, v_options.attempts, v_options.max_attempts, v_options.on_duplicate);
    end if;
    scheduled_at := v_put.scheduled_at;
    outcome := v_put.outcome;
end $$;

comment on function queue_push(text, text, jsonb, jsonb) is
$$Puts one message into a kind.
in_kind: the kind, 1 to 95 characters. in_key: the key, 1 to 200 characters; NULL: a time-ordered UUID. While a message of
that key is in that kind, a second push is no second message. in_payload: JSON, at most 31 levels deep.
in_options: delay_seconds (0 or more) or scheduled_at (microseconds since 1970, or ISO 8601 with an offset): the delivery
time, default now; priority (-32768 to 32767, higher first, default 0); headers (string keys, scalar values); attempts
(deliveries it has behind it, default 0); max_attempts (deliveries it may have, default that of the kind); on_duplicate,
where the key is taken: ignore (the default), replace (content and time), keep_time (content only), push_back (time only: a
debounce), where content is the payload with its headers.
Result: p_kind, p_key; scheduled_at, microseconds, of the message that is there now; outcome: created, ignored, replaced, or
held: somebody holds the message, the newest is kept and delivered once that delivery is done. An expired hold is none: the
message is replaced, and the late ack of its holder is lost.
Errors: PQ001 for kind and key, PQ002 for options, PQ003 for payload and headers.
Locks: none but the message of that key; waits for another transaction that is putting the same key.
Where the idea comes from: INSERT IGNORE on (kind, key), A. Nedelcu's delayed queue.$$;
