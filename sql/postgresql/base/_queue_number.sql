-- calls: _queue_fail
create or replace function _queue_number(in_options jsonb, in_option text, in_least numeric,
    in_most numeric) returns numeric
    language plpgsql as $$
declare
    v_value constant jsonb := in_options -> in_option;
begin
    if v_value is null or jsonb_typeof(v_value) = 'null' then
        return null;
    elsif jsonb_typeof(v_value) <> 'number' or v_value::numeric < in_least or v_value::numeric > in_most then
        perform _queue_fail('PQ002', in_option, v_value #>> '{}',
            'must be a number from ' || in_least || ' to ' || in_most);
    end if;
    return v_value::numeric;
end $$;

comment on function _queue_number(jsonb, text, numeric, numeric) is
$$A number out of the options.
in_options: the options. in_option: its name. in_least, in_most: the range allowed.
Result: the number; NULL where it isn't given.
Errors: PQ002.$$;
