-- calls: _queue_fail
create or replace function _queue_route(in_options jsonb) returns jsonb language plpgsql as $$
declare
    v_route constant jsonb := in_options -> 'route';
begin
    if jsonb_typeof(v_route) <> 'array' or jsonb_array_length(v_route) > 32
        or v_route @? '$[*] ? (@.type() != "string")'
        or exists (select from jsonb_array_elements_text(v_route) r (kind)
            where char_length(r.kind) not between 1 and 95) then
        perform _queue_fail('PQ002', 'route', v_route::text,
            'must be an array of at most 32 kinds of 1 to 95 characters');
    end if;
    return nullif(v_route, '[]');
end $$;

comment on function _queue_route(jsonb) is
$$The route of a push, checked.
in_options: those of a push, with a route.
Result: the kinds it goes to, an array; NULL: to none.
Errors: PQ002.$$;
