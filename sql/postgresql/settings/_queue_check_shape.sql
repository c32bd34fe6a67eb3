-- calls: _queue_fail
create or replace function _queue_check_shape(in_shape jsonb) returns jsonb language plpgsql as $$
begin
    if in_shape is null or jsonb_typeof(in_shape) = 'null' then
        return null;
    elsif jsonb_typeof(in_shape) <> 'object' or exists (
        select from jsonb_each(in_shape) f (name, type)
        where f.type not in ('"string"', '"number"', '"integer"', '"boolean"', '"object"', '"array"')) then
        perform _queue_fail('PQ002', 'payload_shape', in_shape::text,
            'must be an object of fields and their types: string, number, integer, boolean, object, array');
    end if;
    return in_shape;
end $$;

comment on function _queue_check_shape(jsonb) is
$$Refuses what can't be a payload_shape.
in_shape: the option.
Result: the shape, NULL for none.
Errors: PQ002.$$;
