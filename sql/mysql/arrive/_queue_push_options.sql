-- calls: _queue_check_headers, _queue_check_options, _queue_check_roles, _queue_fail, _queue_instant, _queue_integer,
--     _queue_number, _queue_semaphores, _queue_text
create procedure _queue_push_options(in in_options longtext, in in_now bigint, out out_scheduled_at bigint,
    out out_priority smallint, out out_headers longtext, out out_attempts int, out out_max_attempts int,
    out out_on_duplicate varchar(20), out out_route longtext, out out_order varchar(200) collate exact,
    out out_semaphores longtext)
    comment 'The options of a push, checked.
in_options: see queue_push; NULL for the defaults. in_now: the time of the call.
Result: each option, or its default; but for group, which is for _queue_enrol.
Errors: PQ002, and PQ003 for headers.'
begin
    declare v_value bigint;
    declare v_delay decimal(30,6);
    declare v_bad int default 0;
    declare v_text longtext collate exact;
    set out_scheduled_at = in_now, out_priority = 0, out_headers = null, out_attempts = 0, out_max_attempts = null,
        out_on_duplicate = 'ignore', out_route = null, out_order = null, out_semaphores = null;
    if in_options is not null then
        call _queue_check_options(in_options,
            concat('delay_seconds,scheduled_at,priority,headers,attempts,',
            'max_attempts,on_duplicate,route,group,order_key,semaphores'), 'options');
        if json_contains_path(in_options, 'one', '$.delay_seconds', '$.scheduled_at') then
            call _queue_number(in_options, 'delay_seconds', 0, 253402300799, v_delay);
            call _queue_instant(in_options, 'scheduled_at', v_value);
            set out_scheduled_at = coalesce(v_value, in_now + coalesce(v_delay, 0) * 1000000);
            if v_value is not null and v_delay is not null then
                call _queue_fail('PQ002', 'scheduled_at', json_unquote(in_options -> 'scheduled_at'),
                    'must not stand beside delay_seconds');
            elseif out_scheduled_at > 253402300799999999 then -- the last microsecond of the year 9999
                call _queue_fail('PQ002', 'delay_seconds', json_unquote(in_options -> 'delay_seconds'),
                    'must end before the year 10000');
            end if;
        end if;
        if in_options ? 'priority' then
            call _queue_integer(in_options, 'priority', -32768, 32767, v_value);
            set out_priority = coalesce(v_value, 0);
        end if;
        if in_options ? 'headers' then
            call _queue_check_headers(in_options -> 'headers', 'headers', out_headers);
        end if;
        if json_contains_path(in_options, 'one', '$.attempts', '$.max_attempts') then
            call _queue_integer(in_options, 'attempts', 0, 1000000000, out_attempts);
            call _queue_integer(in_options, 'max_attempts', 1, 1000000000, out_max_attempts);
            set out_attempts = coalesce(out_attempts, 0);
        end if;
        if in_options ? 'on_duplicate' then
            call _queue_text(in_options, 'on_duplicate', v_text);
            if v_text not in ('ignore', 'replace', 'keep_time', 'push_back') then
                call _queue_fail('PQ002', 'on_duplicate', v_text, 'must be ignore, replace, keep_time or push_back');
            end if;
            set out_on_duplicate = coalesce(v_text, 'ignore');
        end if;
        if in_options ? 'semaphores' then
            call _queue_semaphores(in_options, out_semaphores);
        end if;
        if json_contains_path(in_options, 'one', '$.route', '$.group', '$.order_key') then
            call _queue_text(in_options, 'order_key', v_text);
            if char_length(v_text) not between 1 and 200 then
                call _queue_fail('PQ002', 'order_key', v_text, 'must have 1 to 200 characters');
            end if;
            set out_order = v_text, out_route = in_options -> 'route';
            set out_route = if(json_type(out_route) = 'NULL', null, out_route);
            select count(*) into v_bad from unnest(out_route) r (kind json)
            where json_type(r.kind) <> 'STRING' or char_length(json_unquote(r.kind)) not between 1 and 95;
            if json_type(out_route) <> 'ARRAY' or json_length(out_route) > 32 or v_bad > 0 then
                call _queue_fail('PQ002', 'route', out_route,
                    'must be an array of at most 32 kinds of 1 to 95 characters');
            elseif json_length(out_route) = 0 then
                set out_route = null;
            elseif out_route is not null then
                call _queue_check_roles(out_route);
            end if;
            call _queue_text(in_options, 'group', v_text);
            if v_text is not null and char_length(v_text) not between 1 and 100 then
                call _queue_fail('PQ002', 'group', v_text, 'must have 1 to 100 characters');
            end if;
        end if;
    end if;
end;
