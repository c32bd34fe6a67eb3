create or replace function _queue_terms(in_kind text,
    in_document jsonb) returns bigint[] language sql stable parallel safe as $$
    with recursive n (path, value, depth) as (
        select '', in_document, 0
        union all
        select n.path || '.' || to_json(e.key)::text, e.value, n.depth + 1
        from n, jsonb_each(case when jsonb_typeof(n.value) = 'object' then n.value else '{}' end) e),
    l (path, value) as (
        select n.path, n.value from n where n.depth > 0
        union all
        select n.path || '[]', a.value
        from n, jsonb_array_elements(case when jsonb_typeof(n.value) = 'array' and n.depth > 0 then n.value
            else '[]' end) a)
    select coalesce(array_agg(distinct ('x' || left(encode(sha256(convert_to(in_kind || l.path || '='
        || case jsonb_typeof(l.value) when 'number' then trim_scale((l.value #>> '{}')::numeric)::text
            else l.value::text end, 'UTF8')),
        'hex'), 16))::bit(64)::bigint), '{}')
    from l where jsonb_typeof(l.value) not in ('object', 'array')
$$;

comment on function _queue_terms(text, jsonb) is
$$The terms of a document, for queue_term: a number for each value that objects alone lead to, and for each that stands
in an array which they lead to. Values that are equal have the same, 1 and 1.0 too.
in_kind: the kind. in_document: payload, headers or a filter.
Result: the terms, each once.
differs: on MariaDB and MySQL _queue_leaves does it: a function can't be created on every server.$$;
