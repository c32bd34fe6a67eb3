-- calls: _queue_check_headers, _queue_check_options, _queue_check_roles, _queue_fail, _queue_instant, _queue_integer,
--     _queue_number, _queue_semaphores, _queue_text
create or replace function _queue_push_options(in_options jsonb, in_now bigint,
    out scheduled_at bigint, out priority smallint, out headers jsonb, out attempts integer, out max_attempts integer,
    out on_duplicate text, out route jsonb, out order_key text, out semaphores text[]) language plpgsql as $$
declare
    v_delay numeric;
    v_time numeric;
begin
    in_options := nullif(in_options, 'null');
    perform _queue_check_options(in_options,
        '{delay_seconds, scheduled_at, priority, headers, attempts, max_attempts, on_duplicate}'::text[]
            || '{route, group, order_key, semaphores}'::text[], 'options');
    scheduled_at := in_now;
    if in_options ?| '{delay_seconds,scheduled_at}' then
        v_delay := _queue_number(in_options, 'delay_seconds', 0::numeric, 253402300799::numeric);
        v_time := in_now + coalesce(v_delay, 0) * 1000000;
        if in_options ->> 'scheduled_at' is not null and v_delay is not null then
            perform _queue_fail('PQ002', 'scheduled_at', in_options ->> 'scheduled_at',
                'must not stand beside delay_seconds');
        elsif v_time > 253402300799999999 then -- the last microsecond of the year 9999
            perform _queue_fail('PQ002', 'delay_seconds', v_delay::text, 'must end before the year 10000');
        end if;
        scheduled_at := coalesce(_queue_instant(in_options, 'scheduled_at'), v_time::bigint);
    end if;
    priority := coalesce(case when in_options ? 'priority'
        then _queue_integer(in_options, 'priority', (-32768)::bigint, 32767::bigint) end, 0);
    attempts := 0;
    on_duplicate := 'ignore';
    if (in_options - '{delay_seconds,scheduled_at,priority}'::text[] <> '{}') is not true then
        return;
    end if;
    headers := _queue_check_headers(in_options -> 'headers', 'headers');
    attempts := coalesce(_queue_integer(in_options, 'attempts', 0::bigint, 1000000000::bigint), 0);
    max_attempts := _queue_integer(in_options, 'max_attempts', 1::bigint, 1000000000::bigint);
    on_duplicate := coalesce(_queue_text(in_options, 'on_duplicate'), 'ignore');
    if on_duplicate not in ('ignore', 'replace', 'keep_time', 'push_back') then
        perform _queue_fail('PQ002', 'on_duplicate', on_duplicate, 'must be ignore, replace, keep_time or push_back');
    end if;
    if in_options -> 'route' <> 'null' then
        route := in_options -> 'route';
        if jsonb_typeof(route) <> 'array' or jsonb_array_length(route) > 32
            or route @? '$[*] ? (@.type() != "string")'
            or exists (select from jsonb_array_elements_text(route) r (kind)
                where char_length(r.kind) not between 1 and 95) then
            perform _queue_fail('PQ002', 'route', route::text,
                'must be an array of at most 32 kinds of 1 to 95 characters');
        end if;
        perform _queue_check_roles(array(select jsonb_array_elements_text(route)));
        route := nullif(route, '[]');
    end if;
    order_key := _queue_text(in_options, 'order_key');
    if char_length(order_key) not between 1 and 200 then
        perform _queue_fail('PQ002', 'order_key', order_key, 'must have 1 to 200 characters');
    end if;
    if in_options -> 'semaphores' <> 'null' then
        semaphores := _queue_semaphores(in_options);
    end if;
    if char_length(_queue_text(in_options, 'group')) not between 1 and 100 then
        perform _queue_fail('PQ002', 'group', in_options ->> 'group', 'must have 1 to 100 characters');
    end if;
end $$;

comment on function _queue_push_options(jsonb, bigint) is
$$The options of a push, checked.
in_options: see queue_push; NULL for the defaults. in_now: the time of the call.
Result: each option, or its default; but for group, which is for _queue_enrol.
Errors: PQ002, and PQ003 for headers.$$;
