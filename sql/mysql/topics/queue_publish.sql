-- calls: _queue_check_fit, _queue_check_name, _queue_check_options, _queue_check_payload, _queue_check_roles,
--     _queue_check_topic, _queue_fail, _queue_index, _queue_key, _queue_lock, _queue_log_entries,
--     _queue_push_options, _queue_put, _queue_subscribed, queue_now
-- changes: delayed_queue
create procedure queue_publish(in in_topic text collate exact, in in_key text collate exact, in in_payload longtext,
    in in_options longtext)
    comment 'Puts a copy of one message into each kind that is subscribed to its topic: into all, or into none. The
copies are messages like any other. A kind that is subscribed by several patterns gets one.
in_topic: words with a dot between them, 1 to 255 characters, without * and #.
in_key: the key that each copy has, 1 to 200 characters; NULL: a time-ordered UUID, the same for all. In each kind it
promises what it does in a push.
in_payload: JSON, as in queue_push, with the fields that payload_shape of each of the kinds wants. Bytes can''t be
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
Where the idea comes from: the topic exchange of AMQP.'
begin
    declare v_key text collate exact;
    declare v_answer longtext;
    begin atomic
        declare v_now, v_at, v_one_at, v_entry, v_since bigint;
        declare v_list, v_shape, v_headers, v_taken, v_none longtext;
        declare v_priority smallint;
        declare v_attempts, v_max_attempts int;
        declare v_on_duplicate varchar(20);
        declare v_outcome varchar(10);
        declare v_kind text collate exact;
        declare v_shaped, v_draining, v_remembers, v_log, v_restricted boolean;
        declare v_apart, v_logs boolean default false;
        declare c cursor for
            select k.p_kind, k.payload_shape is not null, k.draining, k.dedup_seconds > 0 or k.filter_index,
                k.log_seconds > 0, k.roles is not null
            from json_table(v_list, '$[*]' columns (p_kind varchar(100) collate exact path '$[1]')) j
                straight_join queue_kind k on k.p_kind = j.p_kind
            where k.payload_shape is not null or k.draining or k.dedup_seconds > 0 or k.filter_index
                or k.log_seconds > 0 or k.roles is not null order by k.p_kind;
        declare d cursor for
            select j.entry, j.p_kind, v_now - nullif(k.dedup_seconds, 0) * 1000000
            from unnest(v_list) j (place for ordinality, entry bigint, p_kind varchar(100) collate exact)
                left join queue_kind k on k.p_kind = j.p_kind
            order by j.place;
        call queue_now(v_now);
        call _queue_check_topic(in_topic, 'topic');
        set v_key = in_key, in_payload = coalesce(in_payload, 'null'), v_answer = '[]';
        if in_key is null then
            call _queue_key(v_now, v_key);
        end if;
        call _queue_check_name(v_key, 200, 'key');
        call _queue_check_payload(in_payload, 'payload');
        call _queue_subscribed(in_topic, v_list);
        for each c into v_kind, v_shaped, v_draining, v_remembers, v_log, v_restricted do
            if v_draining then
                call _queue_fail('PQ004', 'topic', in_topic,
                    concat('refused, "', left(v_kind, 40), '" takes in nothing while it is drained'));
            end if;
            if v_restricted then
                call _queue_check_roles(json_array(v_kind));
            end if;
            set v_logs = v_logs or v_log, v_apart = v_apart or v_remembers;
            if v_shaped then -- read apart: for a long value MariaDB's cursor makes a file
                select k.payload_shape into v_shape from queue_kind k where k.p_kind = v_kind;
                call _queue_check_fit(v_shape, in_payload, concat('payload for "', left(v_kind, 40), '"'));
            end if;
        end each;
        call _queue_check_options(in_options,
            'delay_seconds,scheduled_at,priority,headers,attempts,max_attempts,on_duplicate', 'options');
        call _queue_push_options(in_options, v_now, v_at, v_priority, v_headers, v_attempts, v_max_attempts,
            v_on_duplicate, v_none, v_none, v_none);
        if v_on_duplicate = 'ignore' and not v_apart then
            insert into delayed_queue (entry, p_kind, p_key, payload, headers, priority, scheduled_at,
                scheduled_at_initially, created_at, attempts, max_attempts, ready_rank, ready_at, due_at)
            select j.entry, j.p_kind, v_key, in_payload, v_headers, v_priority, v_at, v_at, v_now, v_attempts,
                v_max_attempts, if(v_at <= v_now, -v_priority, null), if(v_at <= v_now, v_at, null),
                if(v_at > v_now, v_at, null)
            from unnest(v_list) j (entry bigint, p_kind varchar(100) collate exact)
                left join delayed_queue q force index (delayed_queue_key) on q.p_kind = j.p_kind and q.p_key = v_key
            where q.entry is null or @pyqueue_own is not true
            on duplicate key update entry = delayed_queue.entry;
            -- looked at, as in _queue_put
            select json_arrayagg(json_array(s.p_kind, s.scheduled_at, s.outcome, s.entry)) into v_answer
            from (
                select j.p_kind, coalesce(n.scheduled_at, q.scheduled_at) as scheduled_at,
                    if(n.entry is null, 'ignored', 'created') as outcome, j.entry
                from unnest(v_list) j (place for ordinality, entry bigint, p_kind varchar(100) collate exact)
                    left join delayed_queue n force index (primary) on n.entry = j.entry
                    left join delayed_queue q force index (delayed_queue_key)
                        on q.p_kind = if(n.entry is null, j.p_kind, null) and q.p_key = v_key
                order by j.place limit 1000000000) s;
        else
            select coalesce(json_arrayagg(json_array(q.entry)), '[]') into v_taken
            from json_table(v_list, '$[*]' columns (p_kind varchar(100) collate exact path '$[1]')) j
                straight_join delayed_queue q force index (delayed_queue_key) on q.p_kind = j.p_kind and q.p_key = v_key
            where v_on_duplicate <> 'ignore';
            call _queue_lock(v_taken);
            for each d into v_entry, v_kind, v_since do
                call _queue_put(v_entry, v_kind, v_key, in_payload, null, v_headers, v_priority, v_now, v_at,
                    v_attempts, v_max_attempts, v_on_duplicate, v_since, null, null, null, null, null, v_one_at,
                    v_outcome);
                if v_outcome in ('created', 'replaced') then
                    call _queue_index(json_array(v_entry + 0));
                end if;
                set v_answer = json_array_append(v_answer, '$', json_array(v_kind, v_one_at + 0, v_outcome,
                    v_entry + 0));
            end each;
        end if;
        if v_logs then
            select json_arrayagg(json_array(s.entry + 0, if(s.outcome = 'created', 'pushed', 'replaced'))) into v_list
            from (
                select j.* from json_table(v_answer, '$[*]' columns (place for ordinality,
                    outcome varchar(10) path '$[2]', entry bigint path '$[3]')) j
                where j.outcome = 'created' or j.outcome = 'replaced' and v_on_duplicate <> 'push_back'
                order by j.outcome, j.place limit 1000000000) s;
            call _queue_log_entries(coalesce(v_list, '[]'), in_topic, v_now);
        end if;
    end atomic;
    select r.p_kind, v_key as p_key, r.scheduled_at, r.outcome
    from unnest(v_answer) r (place for ordinality, p_kind varchar(100) collate exact, scheduled_at bigint,
        outcome varchar(10))
    order by r.place;
end;
