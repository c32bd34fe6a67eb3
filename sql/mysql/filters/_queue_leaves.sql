create procedure _queue_leaves(in in_document longtext character set utf8mb4, in in_filter boolean,
    out out_leaves longtext character set utf8mb4)
    comment 'The values of a document that objects alone lead to, and those that stand in an array which they lead to.
in_document: payload, headers or a filter. in_filter: whether it is a filter.
out_leaves: a JSON array of {p, c}, path and value, such that values that are equal are spelt the same, 1 and 1.0 too.
An object or an array is a leaf as well, {} or []; of a filter only where it is empty. What stands in an array and is
none itself is left out; in a filter it is a !.
differs: PostgreSQL has an operator that finds a filter in a document; for its index see _queue_terms.'
begin
    declare v_level, v_nodes, v_part longtext character set utf8mb4;
    set out_leaves = json_array(),
        v_level = json_array(json_object('p', '', 'v', concat(in_document, '') collate exact));
    while v_level is not null do
        -- names and values by their place, as in _queue_misfit
        select json_arrayagg(json_object('p', concat(n.p, '.', json_quote(k.name)) collate exact, 't',
            coalesce(json_type(c.value), 'NULL'), 'v',
            concat(coalesce(c.value, 'null'), '') collate exact)) into v_nodes
        from json_table(v_level, '$[*]'
            columns (p longtext collate exact path '$.p', v longtext collate exact path '$.v')) n
            join json_table(if(json_type(n.v) = 'OBJECT', json_keys(n.v), '[]'), '$[*]'
                columns (place for ordinality, name longtext collate exact path '$')) k
            join json_table(if(json_type(n.v) = 'OBJECT', n.v, '{}'), '$.*'
                columns (place for ordinality, value json path '$')) c on c.place = k.place;
        select json_arrayagg(json_object('p', l.p, 'c', (case
            when l.t = 'OBJECT' then '{}' when l.t = 'ARRAY' then '[]' when l.t = 'DEEP' then '!'
                when l.t = 'STRING' then json_quote(json_unquote(l.v))
            when l.t in ('BOOLEAN', 'NULL') then l.v when l.v = '-0' then '0' when l.v regexp '^-?[0-9]{1,20}$' then l.v
            when abs(l.v + 0e0) < 1e18 and floor(l.v + 0e0) = l.v + 0e0 then cast(cast(l.v + 0e0 as signed) as char)
                else concat(l.v + 0e0) end) collate exact)) into v_part
        from (
            select n.p, n.t, n.v
            from json_table(v_nodes, '$[*]'
                columns (p longtext collate exact path '$.p', t varchar(20) collate exact path '$.t',
                v longtext collate exact path '$.v')) n
            where not in_filter or n.t not in ('OBJECT', 'ARRAY') or json_length(n.v) = 0
            union all
            select concat(n.p, '[]'),
                if(json_type(e.value) in ('OBJECT', 'ARRAY'), 'DEEP',
                coalesce(json_type(e.value), 'NULL')) collate exact, concat(coalesce(e.value, 'null'), '') collate exact
            from json_table(v_nodes, '$[*]'
                columns (p longtext collate exact path '$.p', t varchar(20) collate exact path '$.t',
                v longtext collate exact path '$.v')) n
                join json_table(if(n.t = 'ARRAY', n.v, '[]'), '$[*]' columns (value json path '$')) e
            where in_filter or coalesce(json_type(e.value), 'NULL') not in ('OBJECT', 'ARRAY')) l;
        set out_leaves = if(v_part is null, out_leaves, json_merge_preserve(out_leaves, v_part));
        select json_arrayagg(json_object('p', n.p, 'v', n.v)) into v_level
        from json_table(coalesce(v_nodes, '[]'), '$[*]'
            columns (p longtext collate exact path '$.p', t varchar(20) collate exact path '$.t',
            v longtext collate exact path '$.v')) n
        where n.t = 'OBJECT' and json_length(n.v) > 0;
    end while;
end;
