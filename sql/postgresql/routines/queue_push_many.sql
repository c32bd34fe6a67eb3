create or replace function queue_push_many(in_kind text, in_messages jsonb, in_options jsonb default null)
    returns table (p_key text, outcome text) language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
    v_now constant bigint := queue_now();
    v_keys text[];
    v_outcomes text[];
    v_message record;
    v_own record;
    v_put record;
begin
    perform _queue_check_kind(in_kind, 95);
    if in_messages is null or jsonb_typeof(in_messages) <> 'array' then
        perform _queue_fail('PQ001', 'messages', in_messages::text, 'must be a JSON array of {key, payload, and push options}');
    end if;
    if coalesce(in_options ->> 'on_duplicate', 'ignore') = 'ignore' and not in_messages @? '$[*].on_duplicate' then
        return query select b.p_key, b.outcome from _queue_push_batch(in_kind, in_messages, in_options, v_now) b;
        return;
    end if;
    -- rows are locked in the order of their entries everywhere
    perform q.entry from delayed_queue q
    where q.p_kind = in_kind and q.p_key = any (array(select m.message ->> 'key'
        from jsonb_array_elements(in_messages) m (message) where jsonb_typeof(m.message) = 'object'))
    order by q.entry for update;
    for v_message in
        select m.message, m.n from jsonb_array_elements(in_messages) with ordinality m (message, n)
        order by case when jsonb_typeof(m.message) = 'object' then m.message ->> 'key' end collate "C", m.n
    loop
        v_own := _queue_message(v_message.message, v_message.n, in_options, v_now);
        v_put := _queue_put(in_kind, v_own.p_key, v_message.message -> 'payload', null, v_own.headers, v_own.priority,
            v_now, v_own.scheduled_at, v_own.attempts, v_own.max_attempts, v_own.on_duplicate);
        v_keys[v_message.n] := v_own.p_key;
        v_outcomes[v_message.n] := v_put.outcome;
    end loop;
    return query select r.p_key, r.outcome from unnest(v_keys, v_outcomes) r (p_key, outcome);
end $$;

comment on function queue_push_many(text, jsonb, jsonb) is
$$Puts many messages into a kind: all or, with an error, none.
in_kind: the kind, 1 to 95 characters. in_messages: a JSON array of objects {key, payload, and push options}, see
queue_push; without a key each gets a time-ordered UUID. Duplicates inside the batch are treated as if pushed one after
another. in_options: push options for all; those of a message win.
Result: a row a message, in their order: p_key, outcome as in queue_push.
Errors: PQ001, PQ002, PQ003, naming the message as messages[0], messages[1], ….
Locks: none, or with on_duplicate the messages whose keys are taken, in the order of their entries; keys are put in in
their order, so that overlapping batches don't deadlock.$$;
