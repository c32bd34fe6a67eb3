-- calls: _queue_check_fit, _queue_enrol, _queue_epoch, _queue_join_line_batch, _queue_lock_keys, _queue_message,
--     _queue_push_options, _queue_pushed, _queue_put_new
drop procedure if exists _queue_push_each;
delimiter $$
create procedure _queue_push_each(in in_kind text collate exact, in in_messages longtext character set utf8mb4,
    in in_options longtext character set utf8mb4, in in_now bigint, out out_outcomes longtext character set ascii,
    out out_made longtext character set ascii)
    comment 'queue_push_many message by message: where some have options, or their kind has a shape or remembers keys.
in_kind, in_messages, in_options, the errors and the locks: those of queue_push_many, kind and messages checked. in_now:
the time of the call. out_outcomes: a letter a message, in their order: c for created, i for
ignored, r for replaced, h for held. out_made: 36 characters a message, the key that was made where it came without;
NULL where none was.
differs: on PostgreSQL it is a part of queue_push_many.'
begin
    declare v_shift, v_since, v_at, v_default_at, v_put_at, v_entry, v_new, v_locked bigint;
    declare v_plain, v_deep, v_follows, v_done boolean default false;
    declare v_key, v_before text collate exact;
    declare v_message, v_payload, v_headers, v_default_headers, v_shape, v_members longtext character set utf8mb4;
    declare v_priority, v_default_priority smallint;
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
        v_default_attempts, v_default_max_attempts, v_default_on_duplicate);
    select k.payload_shape, in_now - nullif(k.dedup_seconds, 0) * 1000000 into v_shape, v_since
    from queue_kind k where k.p_kind = in_kind;
    set v_deep = json_depth(in_messages) > 33, v_number = json_length(in_messages),
        out_outcomes = repeat('i', v_number),
        v_follows = json_contains_path(in_options, 'one', '$.route', '$.group', '$.order_key', '$.semaphores')
            or json_contains_path(in_messages, 'one', '$[*].route', '$[*].group', '$[*].order_key', '$[*].semaphores');
    if v_default_on_duplicate <> 'ignore' or json_contains_path(in_messages, 'one', '$[*].on_duplicate') then
        call _queue_lock_keys(in_kind, in_messages, v_locked);
    end if;
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
                v_on_duplicate = v_default_on_duplicate;
        else
            call _queue_message(v_message, v_place, in_options, in_now, v_key, v_payload, v_at, v_priority, v_headers,
                v_attempts, v_max_attempts, v_on_duplicate);
            if coalesce(json_type(json_extract(v_message, '$.key')), 'NULL') = 'NULL' then
                set out_made = insert(coalesce(out_made, convert(repeat(' ', 36 * v_number) using ascii)),
                    36 * v_place - 35, 36, convert(v_key using ascii));
            end if;
        end if;
        if v_shape is not null then
            call _queue_check_fit(v_shape, v_payload, concat('messages[', v_place - 1, '].payload'));
        end if;
        if v_on_duplicate <> 'ignore' and not v_key <=> v_before then
            select max(q.entry) into v_entry from delayed_queue q where q.p_kind = in_kind and q.p_key = v_key;
            if v_entry > v_locked then
                -- one that came after the lock above, perhaps of several: in the order of their entries too
                call _queue_lock_keys(in_kind, in_messages, v_locked);
            end if;
        end if;
        call _queue_put_new(v_new, in_kind, v_key, v_payload, null, v_headers, v_priority, in_now, v_at, v_attempts,
            v_max_attempts, v_on_duplicate, v_since, v_put_at, v_outcome);
        if v_follows and v_outcome = 'created' then
            call _queue_pushed(in_kind, v_key, in_options, v_message, v_members);
        end if;
        set out_outcomes = insert(out_outcomes, v_place, 1, convert(left(v_outcome, 1) using ascii)), v_before = v_key;
    end loop;
    close c;
    call _queue_join_line_batch(in_kind, in_messages, if(v_follows, out_outcomes, null), out_made);
    call _queue_enrol(v_members);
end $$
delimiter ;
