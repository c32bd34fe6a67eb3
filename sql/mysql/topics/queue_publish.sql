-- calls: _queue_check_fit, _queue_check_name, _queue_check_payload, _queue_check_roles, _queue_check_topic,
--     _queue_fail, _queue_key, _queue_log_entries, _queue_publish, _queue_subscribed, queue_now
create procedure queue_publish(in in_topic text collate exact, in in_key text collate exact,
    in in_payload longtext character set utf8mb4, in in_options longtext character set utf8mb4)
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
    declare v_key, v_kind text collate exact;
    declare v_now bigint;
    declare v_list, v_shape, v_answer longtext character set utf8mb4;
    declare v_shaped, v_draining, v_log, v_logs, v_restricted boolean;
    begin atomic
        declare c cursor for
            select k.p_kind, k.payload_shape is not null, k.draining, k.log_seconds > 0, k.roles is not null
            from json_table(v_list, '$[*]' columns (p_kind varchar(100) collate exact path '$[1]')) j
                straight_join queue_kind k on k.p_kind = j.p_kind
            where k.payload_shape is not null or k.draining or k.log_seconds > 0 or k.roles is not null
                order by k.p_kind;
        call queue_now(v_now);
        call _queue_check_topic(in_topic, 'topic');
        set v_key = in_key, v_logs = false;
        if in_key is null then
            call _queue_key(v_now, v_key);
        end if;
        call _queue_check_name(v_key, 200, 'key');
        set in_payload = coalesce(in_payload, 'null');
        call _queue_check_payload(in_payload, 'payload');
        call _queue_subscribed(in_topic, v_list);
        for each c into v_kind, v_shaped, v_draining, v_log, v_restricted do
            if v_draining then
                call _queue_fail('PQ004', 'topic', in_topic,
                    concat('refused, "', left(v_kind, 40), '" takes in nothing while it is drained'));
            end if;
            if v_restricted then
                call _queue_check_roles(json_array(v_kind));
            end if;
            set v_logs = v_logs or v_log;
            if v_shaped then -- read apart: for a long value MariaDB's cursor makes a file
                select k.payload_shape into v_shape from queue_kind k where k.p_kind = v_kind;
                call _queue_check_fit(v_shape, in_payload, concat('payload for "', left(v_kind, 40), '"'));
            end if;
        end each;
        call _queue_publish(v_list, v_key, in_payload, in_options, v_now, v_answer);
        if v_logs then
            select json_arrayagg(json_array(s.entry + 0, s.event)) into v_list
            from (
                select j.entry, if(j.outcome = 'created', 'pushed', 'replaced') as event
                from json_table(v_answer, '$[*]' columns (place for ordinality,
                    outcome varchar(10) character set utf8mb4 path '$[2]', entry bigint path '$[3]')) j
                where j.outcome = 'created' or j.outcome = 'replaced'
                    and json_value(in_options, '$.on_duplicate') in ('replace', 'keep_time')
                order by j.outcome, j.place limit 1000000000) s;
            call _queue_log_entries(coalesce(v_list, '[]'), in_topic, v_now);
        end if;
    end atomic;
    select r.p_kind, v_key as p_key, r.scheduled_at, r.outcome
    from json_table(v_answer, '$[*]' columns (place for ordinality, p_kind varchar(100) collate exact path '$[0]',
        scheduled_at bigint path '$[1]', outcome varchar(10) character set utf8mb4 path '$[2]')) r
    order by r.place;
end;
