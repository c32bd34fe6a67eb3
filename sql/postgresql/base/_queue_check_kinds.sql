-- calls: _queue_check_name, _queue_fail
create or replace function _queue_check_kinds(in_kinds jsonb) returns text[] language plpgsql as $$
declare
    v_kinds text[];
begin
    if jsonb_typeof(in_kinds) = 'string' then
        v_kinds := array[in_kinds #>> '{}'];
    elsif jsonb_typeof(in_kinds) = 'array' and jsonb_array_length(in_kinds) between 1 and 100
        and not in_kinds @? '$[*] ? (@.type() != "string")' then
        v_kinds := array(select k.kind from jsonb_array_elements_text(in_kinds) with ordinality k (kind, n)
            order by k.n);
    else
        perform _queue_fail('PQ001', 'kinds', in_kinds::text, 'must be a kind or a JSON array of 1 to 100 kinds');
    end if;
    perform _queue_check_name(k.kind, 100, 'kinds[' || k.n - 1 || ']') from unnest(v_kinds) with ordinality k (kind, n);
    return v_kinds;
end $$;

comment on function _queue_check_kinds(jsonb) is
$$The kinds that a consumer names.
in_kinds: a JSON array of 1 to 100 kinds, or one kind as a JSON string.
Result: the kinds, in their order.
Errors: PQ001.$$;
