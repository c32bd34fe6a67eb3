-- calls: _queue_fail
create or replace function _queue_boolean(in_options jsonb, in_option text) returns boolean language plpgsql as $$
declare
    v_value constant jsonb := in_options -> in_option;
begin
    if v_value is null or jsonb_typeof(v_value) = 'null' then
        return null;
    elsif jsonb_typeof(v_value) <> 'boolean' then
        perform _queue_fail('PQ002', in_option, v_value #>> '{}', 'must be true or false');
    end if;
    return v_value::boolean;
end $$;

comment on function _queue_boolean(jsonb, text) is
$$A boolean out of the options.
in_options: the options. in_option: its name.
Result: true or false; NULL where it isn't given.
Errors: PQ002.$$;
