-- calls: _queue_fail
create or replace function _queue_check_options(in_options jsonb, in_allowed text[], in_name text) returns void
    language plpgsql as $$
declare
    v_unknown text;
begin
    if in_options is null or jsonb_typeof(in_options) = 'null' then
        return;
    elsif jsonb_typeof(in_options) <> 'object' then
        perform _queue_fail('PQ002', in_name, in_options::text, 'must be a JSON object');
    end if;
    if in_options - in_allowed <> '{}' then
        select k.name into v_unknown from jsonb_object_keys(in_options - in_allowed) k (name)
        order by k.name collate "C" limit 1;
        perform _queue_fail('PQ002', in_name, v_unknown, 'unknown, allowed are '
            || coalesce(nullif(array_to_string(in_allowed, ', '), ''), 'none'));
    end if;
end $$;

comment on function _queue_check_options(jsonb, text[], text) is
$$Refuses options that are no object and options that nobody knows.
in_options: the options. in_allowed: the names a routine knows. in_name: the parameter's name for the message.
Errors: PQ002.$$;
