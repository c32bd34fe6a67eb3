-- calls: _queue_fail
create or replace function _queue_route(in_options jsonb, in_message jsonb) returns jsonb language plpgsql as $$
declare
    v_route constant jsonb := nullif(case when in_message ? 'route' then in_message
        else in_options end -> 'route', 'null');
begin
    if v_route is null then
        return null;
    elsif jsonb_typeof(v_route) <> 'array' or jsonb_array_length(v_route) > 32
        or v_route @? '$[*] ? (@.type() != "string")'
        or exists (select from jsonb_array_elements_text(v_route) r (kind)
            where char_length(r.kind) not between 1 and 95) then
        perform _queue_fail('PQ002', 'route', v_route::text,
            'must be an array of at most 32 kinds of 1 to 95 characters');
    end if;
    return nullif(v_route, '[]');
end $$;

comment on function _queue_route(jsonb, jsonb) is
$$The route of a push, checked.
in_options: those of a push; NULL for none. in_message: a message of a batch, whose own route wins; NULL: there is no
batch.
Result: the kinds it goes to, an array; NULL: none.
Errors: PQ002.$$;
