-- calls: _queue_check_payload, _queue_fail
create or replace function _queue_check_headers(in_headers jsonb, in_name text) returns jsonb
    language plpgsql as $$
begin
    if coalesce(jsonb_typeof(in_headers), 'null') = 'null' then
        return null;
    elsif jsonb_typeof(in_headers) <> 'object'
        or jsonb_path_exists(in_headers, 'strict $.* ? (@.type() == "object" || @.type() == "array")') then
        perform _queue_fail('PQ003', in_name, in_headers::text, 'must be a JSON object with scalar values');
    end if;
    perform _queue_check_payload(in_headers, in_name);
    return nullif(in_headers, '{}');
end $$;

comment on function _queue_check_headers(jsonb, text) is
$$Refuses headers that are no object of scalars.
in_headers: the headers. in_name: the parameter's name for the message.
Result: the headers, NULL where there are none.
Errors: PQ003.$$;
