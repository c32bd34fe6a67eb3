-- calls: _queue_check_fit, _queue_enrol, _queue_epoch, _queue_index, _queue_join_line, _queue_lock,
--     _queue_log_entries, _queue_message, _queue_push_options, _queue_put
drop procedure if exists _queue_push_batch;
delimiter $$
create procedure _queue_push_batch(in in_kind text collate exact, in in_messages longtext character set utf8mb4,
    in in_options longtext character set utf8mb4, in in_now bigint, out out_outcomes longtext character set ascii,
    out out_made longtext character set ascii)
    comment 'queue_push_many message by message: where _queue_push_plain leaves a batch, or their kind has a shape or
remembers keys.
in_kind, in_messages, in_options, the errors and the locks: those of queue_push_many, kind and messages checked. in_now:
the time of the call. out_outcomes: a letter a message, in their order: c for created, i for
ignored, r for replaced, h for held. out_made: 36 characters a message, the key that was made where it came without;
NULL where none was.
differs: one message after another, since a procedure hands over no rows.'
begin
    declare v_shift, v_since, v_at, v_default_at, v_put_at, v_entry, v_new, v_locked bigint;
    declare v_plain, v_deep, v_changes, v_follows, v_filter, v_logs, v_done boolean default false;
    declare v_key, v_before text collate exact;
    declare v_message, v_payload, v_headers, v_default_headers, v_shape, v_route, v_default_route, v_semaphores,
        v_default_semaphores, v_list longtext character set utf8mb4;
    declare v_priority, v_default_priority smallint;
    declare v_order, v_default_order varchar(200) collate exact;
    declare v_place, v_number, v_attempts, v_default_attempts, v_max_attempts, v_default_max_attempts int;
    declare v_on_duplicate, v_default_on_duplicate varchar(20) character set utf8mb4;
    declare v_outcome varchar(10) character set utf8mb4;
    declare c cursor for
        -- most messages are a key and a payload: those are checked here, all others one by one
        select r.place, r.entry, m.message, json_extract(m.message, '$.payload'), r.p_key, (json_length(m.message) = 2
            and json_type(json_extract(m.message, '$.key')) = 'STRING' and char_length(r.p_key) between 1 and 200
            and json_extract(m.message, '$.payload') is not null and not v_deep) is true
        from (
            -- numbered in the order of the batch, though put in in the order of the keys
            select k.place, k.p_key, ((uuid_short() << 8) & 9223372036854775807) + v_shift as entry
            from json_table(in_messages, '$[*]'
                columns (place for ordinality, p_key varchar(201) collate exact path '$.key')) k
            limit 1000000000) r
            -- apart, so that what is sorted is small
            straight_join (select j.place, j.message from json_table(in_messages, '$[*]' columns (place for ordinality,
                message json path '$')) j limit 1000000000) m on m.place = r.place
        order by r.p_key, r.place;
    declare continue handler for not found begin end;
    call _queue_push_options(in_options, in_now, v_default_at, v_default_priority, v_default_headers,
        v_default_attempts, v_default_max_attempts, v_default_on_duplicate, v_default_route, v_default_order,
        v_default_semaphores);
    select k.payload_shape, in_now - nullif(k.dedup_seconds, 0) * 1000000, k.filter_index, k.log_seconds > 0
    into v_shape, v_since, v_filter, v_logs
    from queue_kind k where k.p_kind = in_kind;
    set v_changes = v_default_on_duplicate <> 'ignore'
            or json_contains_path(in_messages, 'one', '$[*].on_duplicate'),
        v_deep = json_depth(in_messages) > 33, v_number = json_length(in_messages),
        out_outcomes = repeat('i', v_number),
        v_follows = json_contains_path(in_options, 'one', '$.group', '$.order_key')
            or json_contains_path(in_messages, 'one', '$[*].group', '$[*].order_key');
    call _queue_epoch(v_shift);
    open c;
    messages: loop
        begin
            declare continue handler for not found set v_done = true;
            fetch c into v_place, v_new, v_message, v_payload, v_key, v_plain;
        end;
        if v_done then
            leave messages;
        elseif v_plain then
            set v_at = v_default_at, v_priority = v_default_priority, v_headers = v_default_headers,
                v_attempts = v_default_attempts, v_max_attempts = v_default_max_attempts,
                v_on_duplicate = v_default_on_duplicate, v_route = v_default_route, v_order = v_default_order,
                v_semaphores = v_default_semaphores;
        else
            call _queue_message(v_message, v_place, in_options, in_now, v_key, v_payload, v_at, v_priority, v_headers,
                v_attempts, v_max_attempts, v_on_duplicate, v_route, v_order, v_semaphores);
            if coalesce(json_type(json_extract(v_message, '$.key')), 'NULL') = 'NULL' then
                set out_made = insert(coalesce(out_made, convert(repeat(' ', 36 * v_number) using ascii)),
                    36 * v_place - 35, 36, convert(v_key using ascii));
            end if;
        end if;
        if v_shape is not null then
            call _queue_check_fit(v_shape, v_payload, concat('messages[', v_place - 1, '].payload'));
        end if;
        set v_entry = null;
        if v_on_duplicate <> 'ignore' and not v_key <=> v_before then
            select max(q.entry) into v_entry from delayed_queue q where q.p_kind = in_kind and q.p_key = v_key;
        end if;
        if v_changes and v_locked is null or v_entry > v_locked then
            -- what is there, before any of it changes; then what came after that, perhaps several
            /*M!100600 set statement group_concat_max_len = 1000000000 for */
            select coalesce(max(q.entry), 0), json_arrayagg(json_array(q.entry + 0)) into v_locked, v_list
            from json_table(in_messages, '$[*]' columns (p_key varchar(200) collate exact path '$.key')) r
                straight_join delayed_queue q force index (delayed_queue_key) on q.p_kind = in_kind
                    and q.p_key = r.p_key;
            call _queue_lock(coalesce(v_list, '[]'));
        end if;
        call _queue_put(v_new, in_kind, v_key, v_payload, null, v_headers, v_priority, in_now, v_at, v_attempts,
            v_max_attempts, v_on_duplicate, v_since, v_route, null, null, v_order, v_semaphores, v_put_at, v_outcome);
        set out_outcomes = insert(out_outcomes, v_place, 1, convert(left(v_outcome, 1) using ascii)), v_before = v_key;
    end loop;
    close c;
    if v_follows or v_filter or v_logs then
        /*M!100600 set statement group_concat_max_len = 1000000000 for */
        select json_arrayagg(json_array(s.entry + 0, s.event, s.group_name)) into v_list
        from (
            select q.entry, case when substr(out_outcomes, r.place, 1) = 'c' then 'pushed'
                when coalesce(r.on_duplicate, v_default_on_duplicate) <> 'push_back' then 'replaced' end as event,
                if(substr(out_outcomes, r.place, 1) = 'c', coalesce(r.group_name, json_value(in_options, '$.group')),
                    null) as group_name
            from json_table(in_messages, '$[*]' columns (place for ordinality,
                p_key varchar(200) collate exact path '$.key', group_name varchar(100) collate exact path '$.group',
                on_duplicate varchar(20) character set utf8mb4 path '$.on_duplicate')) r
                straight_join delayed_queue q force index (delayed_queue_key) on q.p_kind = in_kind
                    and q.p_key = coalesce(r.p_key,
                        convert(substr(out_made, 36 * r.place - 35, 36) using utf8mb4) collate exact)
            where substr(out_outcomes, r.place, 1) in ('c', 'r')
            order by r.place limit 1000000000) s;
    end if;
    if v_list is not null and v_follows then
        call _queue_join_line(v_list);
        call _queue_enrol(v_list);
    end if;
    if v_list is not null and v_filter then
        call _queue_index(json_extract(v_list, '$[*][0]'));
    end if;
    if v_list is not null and v_logs then
        call _queue_log_entries(v_list, null, in_now);
    end if;
end $$
delimiter ;
