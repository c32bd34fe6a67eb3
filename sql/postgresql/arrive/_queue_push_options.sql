-- calls: _queue_check_headers, _queue_check_options, _queue_check_roles, _queue_fail, _queue_integer, _queue_route,
--     _queue_schedule, _queue_semaphores, _queue_text
create or replace function _queue_push_options(in_options jsonb, in_now bigint,
    out scheduled_at bigint, out priority smallint, out headers jsonb, out attempts integer, out max_attempts integer,
    out on_duplicate text, out route jsonb, out order_key text, out semaphores text[]) language plpgsql as $$
begin
    in_options := nullif(in_options, 'null');
    perform _queue_check_options(in_options,
        '{delay_seconds, scheduled_at, priority, headers, attempts, max_attempts, on_duplicate}'::text[]
            || '{route, group, order_key, semaphores}'::text[], 'options');
    scheduled_at := case when in_options ?| '{delay_seconds,scheduled_at}' then _queue_schedule(in_options, in_now)
        else in_now end;
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
        route := _queue_route(in_options);
        perform _queue_check_roles(array(select jsonb_array_elements_text(route)));
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
