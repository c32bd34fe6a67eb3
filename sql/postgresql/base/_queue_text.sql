-- calls: _queue_fail
create or replace function _queue_text(in_options jsonb, in_option text) returns text language plpgsql as $$
declare
    v_value constant jsonb := in_options -> in_option;
begin
    if jsonb_typeof(v_value) not in ('string', 'null') then
        perform _queue_fail('PQ002', in_option, v_value #>> '{}', 'must be a string');
    end if;
    return v_value #>> '{}';
end $$;

comment on function _queue_text(jsonb, text) is
$$A string out of the options.
in_options: the options. in_option: its name.
Result: the string; NULL where it isn't given.
Errors: PQ002.$$;
