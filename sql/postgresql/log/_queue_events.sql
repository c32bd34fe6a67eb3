-- calls: _queue_fail
create or replace function _queue_events(in_options jsonb) returns text language plpgsql as $$
declare
    v_bad text;
begin
    if coalesce(jsonb_typeof(in_options -> 'events'), 'null') = 'null' then
        return null;
    elsif jsonb_typeof(in_options -> 'events') <> 'array' or in_options -> 'events' = '[]' then
        perform _queue_fail('PQ002', 'events', in_options ->> 'events', 'must be an array of events');
    end if;
    select min(e.event::text) into v_bad
    from jsonb_array_elements(in_options -> 'events') e (event)
    where e.event #>> '{}' <> all ('{pushed, replaced, acked, popped, moved, dead, removed}')
        or jsonb_typeof(e.event) <> 'string';
    if v_bad is not null then
        perform _queue_fail('PQ002', 'events', v_bad, 'must be pushed, replaced, acked, popped, moved, dead, removed');
    end if;
    return (select string_agg(distinct e.event collate "C", ',' order by e.event collate "C")
        from jsonb_array_elements_text(in_options -> 'events') e (event));
end $$;

comment on function _queue_events(jsonb) is
$$The option events of a read.
in_options: the options, an object or NULL.
Result: the events, in their order, with a comma between them; NULL where there is no such option.
Errors: PQ002.$$;
