create or replace function _queue_misfit(in_shape jsonb, in_payload jsonb) returns text language plpgsql as $$
declare
    v_field record;
begin
    if in_payload is null then
        return 'must be JSON, as payload_shape of its kind says';
    elsif jsonb_typeof(in_payload) <> 'object' then
        return 'must be an object, as payload_shape of its kind says';
    end if;
    select f.name, f.type into v_field
    from jsonb_each_text(in_shape) f (name, type)
    where jsonb_typeof(in_payload -> f.name) is distinct from replace(f.type, 'integer', 'number')
        or f.type = 'integer' and (in_payload -> f.name)::numeric % 1 <> 0
    order by f.name collate "C" limit 1;
    return case when found then format('must have %s as %s, as payload_shape of its kind says',
        to_json(left(v_field.name, 40)), v_field.type) end;
end $$;

comment on function _queue_misfit(jsonb, jsonb) is
$$Why a payload isn't of its kind.
in_shape: payload_shape of the kind: fields and their types. in_payload: the payload; NULL: it is binary.
Result: what it must be; NULL where it fits.$$;
