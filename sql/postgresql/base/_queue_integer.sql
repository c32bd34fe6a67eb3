-- calls: _queue_fail, _queue_number
create or replace function _queue_integer(in_options jsonb, in_option text, in_least bigint,
    in_most bigint) returns bigint
    language plpgsql as $$
declare
    v_value constant numeric := _queue_number(in_options, in_option, in_least::numeric, in_most::numeric);
begin
    if v_value <> trunc(v_value) then
        perform _queue_fail('PQ002', in_option, v_value::text, 'must be a whole number');
    end if;
    return v_value;
end $$;

comment on function _queue_integer(jsonb, text, bigint, bigint) is
$$A whole number out of the options.
in_options: the options. in_option: its name. in_least, in_most: the range allowed.
Result: the number; NULL where it isn't given.
Errors: PQ002.$$;
