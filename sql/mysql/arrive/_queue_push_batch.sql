-- calls: _queue_check_fit, _queue_check_roles, _queue_enrol, _queue_fail, _queue_index, _queue_join_line,
--     _queue_line_up, _queue_lock_keys, _queue_log_entries, _queue_push_each, _queue_push_options, _queue_push_plain
create procedure _queue_push_batch(in in_kind text collate exact, in in_messages longtext, in in_options longtext,
    in in_now bigint, out out_outcomes longtext character set ascii)
    comment 'queue_push_many without its transaction: by _queue_push_plain; what that leaves, and what changes a
message that is there, by _queue_push_each; then what follows for all of them.
in_kind, in_messages, in_options, the errors and the locks: those of queue_push_many; the name of the kind is checked,
that messages are an array, and each has a key. in_now: the time of the call. out_outcomes: a letter a message, in their
order: c for created, i for ignored, r for replaced, h for held.'
begin
    declare v_since, v_at, v_locked, v_place bigint;
    declare v_follows, v_filter, v_logs, v_draining, v_restricted boolean default false;
    declare v_headers, v_shape, v_route, v_semaphores, v_payload, v_list, v_created longtext;
    declare v_entries longtext character set ascii;
    declare v_priority smallint;
    declare v_order varchar(200) collate exact;
    declare v_attempts, v_max_attempts int;
    declare v_on_duplicate varchar(20);
    declare c cursor for
        select j.place, coalesce(j.payload, 'null') from json_table(in_messages, '$[*]' columns (place for ordinality,
            keyed int exists path '$.key', payload json path '$.payload')) j
        where j.keyed order by j.place;
    declare continue handler for not found begin end;
    call _queue_push_options(in_options, in_now, v_at, v_priority, v_headers, v_attempts, v_max_attempts,
        v_on_duplicate, v_route, v_order, v_semaphores);
    select k.payload_shape, in_now - nullif(k.dedup_seconds, 0) * 1000000, k.filter_index, k.log_seconds > 0,
        k.draining, k.roles is not null
    into v_shape, v_since, v_filter, v_logs, v_draining, v_restricted
    from queue_kind k where k.p_kind = in_kind;
    if v_restricted then
        call _queue_check_roles(json_array(in_kind));
    end if;
    if v_draining then
        call _queue_fail('PQ004', 'kind', in_kind, 'takes in nothing while it is drained');
    end if;
    if v_shape is not null then
        for each c into v_place, v_payload do
            call _queue_check_fit(v_shape, v_payload, concat('messages[', v_place - 1, '].payload'));
        end each;
    end if;
    if v_on_duplicate <> 'ignore' then
        call _queue_lock_keys(in_kind, in_messages, v_locked);
    end if;
    if json_depth(in_messages) <= 33 then
        call _queue_push_plain(in_kind, in_messages, in_now, v_at, v_priority, v_headers, v_attempts, v_max_attempts,
            v_since, v_route, v_order, v_semaphores, v_follows, v_entries, out_outcomes);
    end if;
    if out_outcomes is null and v_locked is null and json_contains_path(in_messages, 'one', '$[*].on_duplicate') then
        call _queue_lock_keys(in_kind, in_messages, v_locked);
    end if;
    if out_outcomes is null or v_on_duplicate <> 'ignore' and locate('i', out_outcomes) > 0 then
        call _queue_push_each(in_kind, in_messages, in_options, in_now, v_since, v_locked, v_entries, out_outcomes);
        set v_follows = json_contains_path(in_messages, 'one', '$[*].group', '$[*].order_key', '$[*].semaphores');
    end if;
    set v_follows = v_follows or json_contains_path(in_options, 'one', '$.group', '$.order_key', '$.semaphores');
    if (char_length(out_outcomes) >= json_length(in_messages)) is not true then
        -- MariaDB now and then goes on with a call that is killed, without the value that it was working out
        signal sqlstate '70100' set mysql_errno = 1317, message_text = 'Query execution was interrupted';
    end if;
    set v_filter = v_filter or locate('r', out_outcomes) > 0; -- who had to wait asks anew
    if v_follows or v_filter or v_logs then -- not by their keys, of which an old snapshot may have others
        select json_arrayagg(json_array(s.entry + 0, s.event, s.group_name)),
            json_arrayagg(if(s.event = 'pushed', s.entry + 0, null)) into v_list, v_created
        from (
            select cast(substr(v_entries, 19 * r.place - 18, 19) as signed) as entry,
                case when substr(out_outcomes, r.place, 1) = 'c' then 'pushed'
                when coalesce(r.on_duplicate, v_on_duplicate) <> 'push_back' then 'replaced' end as event,
                if(substr(out_outcomes, r.place, 1) = 'c', if(r.own_group, r.group_name,
                    left(json_value(in_options, '$.group'), 100)), null) as group_name
            from json_table(in_messages, '$[*]' columns (place for ordinality,
                group_name varchar(100) collate exact path '$.group', own_group int exists path '$.group',
                on_duplicate varchar(20) path '$.on_duplicate')) r
            where substr(out_outcomes, r.place, 1) in ('c', 'r')
            order by r.place limit 1000000000) s;
    end if;
    if v_list is not null and v_follows then
        call _queue_join_line(v_created);
        call _queue_line_up(v_created);
        call _queue_enrol(v_list);
    end if;
    if v_list is not null and v_filter then
        call _queue_index(json_extract(v_list, '$[*][0]'));
    end if;
    if v_list is not null and v_logs then
        call _queue_log_entries(v_list, null, in_now);
    end if;
end;
