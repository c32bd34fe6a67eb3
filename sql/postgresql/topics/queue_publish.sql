-- calls: _queue_check_fit, _queue_check_name, _queue_check_options, _queue_check_payload, _queue_check_roles,
--     _queue_check_topic, _queue_fail, _queue_index, _queue_key, _queue_log, _queue_permits_settle, _queue_push,
--     _queue_push_options, _queue_put_onto, _queue_subscribed, _queue_take_back, _queue_wake, queue_now
-- changes: delayed_queue
create or replace function queue_publish(in_topic text, in_key text default null, in_payload jsonb default null,
    in_options jsonb default null)
    returns table (p_kind text, p_key text, scheduled_at bigint, outcome text) language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_key constant text := coalesce(in_key, _queue_key(v_now));
    v_kinds text[];
    v_kind record; v_row delayed_queue; v_put record; v_outcome text;
    v_settle bigint[]; v_names text[];
    v_made bigint[];
    v_logs boolean;
    v_onto jsonb := '{}';
    v_filter boolean := false;
    v_options record;
begin
    perform _queue_check_topic(in_topic, 'topic');
    perform _queue_check_name(v_key, 200, 'key');
    in_payload := coalesce(in_payload, 'null');
    perform _queue_check_payload(in_payload, 'payload');
    perform _queue_check_options(in_options,
        '{delay_seconds, scheduled_at, priority, headers, attempts, max_attempts, on_duplicate}'::text[], 'options');
    v_options := _queue_push_options(in_options, v_now);
    v_kinds := _queue_subscribed(in_topic);
    for v_kind in
        select k.p_kind, k.payload_shape, k.draining, k.filter_index, k.log_seconds > 0 as logs, k.roles
            from queue_kind k
        where k.p_kind = any (v_kinds)
            and (k.payload_shape is not null or k.draining or k.filter_index or k.log_seconds > 0
            or k.roles is not null) order by k.p_kind
    loop
        perform _queue_check_roles(array[v_kind.p_kind]) where v_kind.roles is not null;
        if v_kind.draining then
            perform _queue_fail('PQ004', 'topic', in_topic,
                format('refused, "%s" takes in nothing while it is drained', left(v_kind.p_kind, 40)));
        end if;
        v_filter := v_filter or v_kind.filter_index;
        v_logs := v_kind.logs or v_logs;
        continue when v_kind.payload_shape is null;
        perform _queue_check_fit(v_kind.payload_shape, in_payload, format('payload for "%s"', left(v_kind.p_kind, 40)));
    end loop;
    with i as (
        insert into delayed_queue as q (p_kind, p_key, payload, headers, priority, scheduled_at, scheduled_at_initially,
            created_at, attempts, max_attempts, ready_at, due_at)
        select t.p_kind, v_key, in_payload, v_options.headers, v_options.priority, v_options.scheduled_at,
            v_options.scheduled_at, v_now, v_options.attempts, v_options.max_attempts, case
            when v_options.scheduled_at <= v_now then v_options.scheduled_at end, case
                when v_options.scheduled_at > v_now then v_options.scheduled_at end
        from unnest(v_kinds) t (p_kind)
        where coalesce((
            select r.ended_at from queue_dedup r where r.p_kind = t.p_kind and r.p_key = v_key) <= v_now - (
            select (nullif(k.dedup_seconds, 0) * 1000000)::bigint from queue_kind k where k.p_kind = t.p_kind), true)
        order by t.p_kind collate "C"
        on conflict on constraint delayed_queue_pkey do nothing
        returning q.entry)
    select coalesce(array_agg(i.entry), '{}') into v_made from i;
    perform _queue_take_back(v_made, v_now);
    perform _queue_wake(t.p_kind, v_key) from unnest(v_kinds) t (p_kind) where v_made <> '{}';
    if v_options.on_duplicate <> 'ignore' then
        v_row.p_key := v_key;
        v_row.payload := in_payload;
        v_row.headers := v_options.headers;
        v_row.scheduled_at := v_options.scheduled_at;
        for v_kind in
            select q.p_kind, q.entry = any (v_made) as made from delayed_queue q
            where q.p_kind = any (v_kinds) and q.p_key = v_key
                and coalesce((
                    select r.ended_at from queue_dedup r where r.p_kind = q.p_kind and r.p_key = v_key) <= v_now - (
                    select (nullif(k.dedup_seconds, 0) * 1000000)::bigint from queue_kind k
                    where k.p_kind = q.p_kind), true)
            order by q.entry + 0 for update -- + 0: ADR 13
        loop
            v_row.p_kind := v_kind.p_kind;
            v_outcome := 'created';
            if not v_kind.made then
                v_put := _queue_put_onto(v_row, v_options.on_duplicate, v_now);
                v_outcome := v_put.outcome;
                v_settle := v_settle || v_put.entry;
                v_names := v_names || v_put.waits_for;
            end if;
            v_onto := v_onto || jsonb_build_object(v_kind.p_kind, v_outcome);
        end loop;
        -- what went away in between can be put in now; where its key is remembered, as in a push, it is ignored
        select v_onto || coalesce(jsonb_object_agg(t.p_kind, p.outcome), '{}') into v_onto
        from unnest(v_kinds) t (p_kind), _queue_push(t.p_kind, v_key, in_payload, null::bytea, in_options) p
        where not v_onto ? t.p_kind;
    end if;
    if v_filter or v_settle <> '{}' then -- who had to wait asks anew
        perform _queue_index(array(select q.entry from delayed_queue q
            where q.p_kind = any (v_kinds) and q.p_key = v_key
            and (q.entry = any (v_made) or v_onto ->> q.p_kind in ('created', 'replaced'))));
    end if;
    if v_logs then
        perform _queue_log(array_agg(l.entry order by l.made desc, l.p_kind),
            array_agg(case when l.made then 'pushed' else 'replaced' end order by l.made desc, l.p_kind), in_topic,
            v_now)
        from (
            select q.p_kind, q.entry, q.entry = any (v_made) as made from delayed_queue q
            where q.p_kind = any (v_kinds) and q.p_key = v_key) l
        where l.made or v_onto ->> l.p_kind = 'replaced' and v_options.on_duplicate in ('replace', 'keep_time');
    end if;
    perform _queue_permits_settle(v_settle, v_names, true, v_now) where v_names is not null;
    return query
        select t.p_kind, v_key, q.scheduled_at,
            case when q.entry = any (v_made) then 'created' else coalesce(v_onto ->> t.p_kind, 'ignored') end
        from unnest(v_kinds) t (p_kind) left join lateral ( -- OFFSET: ADR 13
            select o.entry, o.scheduled_at from delayed_queue o
                where o.p_kind = t.p_kind and o.p_key = v_key offset 0) q on true
        order by t.p_kind collate "C";
end $$;

comment on function queue_publish(text, text, jsonb, jsonb) is
$$Puts a copy of one message into each kind that is subscribed to its topic: into all, or into none. The copies are
messages like any other. A kind that is subscribed by several patterns gets one.
in_topic: words with a dot between them, 1 to 255 characters, without * and #.
in_key: the key that each copy has, 1 to 200 characters; NULL: a time-ordered UUID, the same for all. In each kind it
promises what it does in a push.
in_payload: JSON, as in queue_push, with the fields that payload_shape of each of the kinds wants. Bytes can't be
published: push them to each kind by queue_push_bytes.
in_options: options of a push, for each copy, as in queue_push.
- delay_seconds: how long each copy waits. Not together with scheduled_at. Allowed: 0 or more, up to the year 9999.
  Default: 0.
- scheduled_at: the time from which it may be delivered. Allowed: microseconds since 1970-01-01 UTC, or ISO 8601 with
  an offset. Default: now.
- priority: a higher priority is delivered first. Allowed: -32768 to 32767. Default: 0.
- headers: data beside the payload. Allowed: an object of strings, numbers, booleans and nulls. Default: none.
- attempts: how many deliveries each copy has behind it. Allowed: 0 to 1000000000. Default: 0.
- max_attempts: how many deliveries it may have. Allowed: 1 to 1000000000. Default: max_attempts of the kind.
- on_duplicate: what happens where the key is taken in a kind. Allowed: ignore, replace, keep_time, push_back.
  Default: ignore.
Result: a row a kind, in their order: p_kind, p_key, scheduled_at, outcome, as in queue_push. No row where nobody is
subscribed.
Errors: PQ007 for a kind that is for others. PQ001 for topic and key, PQ002 for options, PQ003 for payload and headers,
PQ004 where one of the kinds is drained; then nobody gets it.
Locks: the messages of that key, and those only with on_duplicate; keys are put in in the order of the kinds. The call
waits for other transactions that are putting the same keys.
Where the idea comes from: the topic exchange of AMQP.$$;
