create procedure _queue_leaves(in in_documents longtext, in in_filter boolean, out out_leaves longtext)
    comment 'The values of documents that objects alone lead to, and those that stand in an array which they lead to.
in_documents: payloads, headers or a filter, a JSON object of {d, v}, a number and a text; none twice. in_filter:
whether it is a filter.
out_leaves: a JSON array of {d, p, c}, document, path and value, such that values that are equal are spelt the same, 1
and 1.0 too. An object or an array is a leaf as well, {} or []; of a filter only where it is empty. What stands in an
array and is none itself is left out; in a filter it is a !. Of a name that stands more than once in an object the last
counts.
differs: PostgreSQL has an operator that finds a filter in a document; for its index see _queue_terms.'
begin
    declare v_level, v_nodes, v_part longtext;
    declare v_more, v_twice, v_looked boolean default false;
    declare v_begins boolean default true;
    set out_leaves = json_array();
    -- each list of these is an object: MariaDB makes a file to gather long values in an array
    -- see _queue_misfit
    /*M!100600 select json_objectagg(r.d, json_object('d', r.d, 'v',
        replace(replace(r.v, '\\\\', '\\u005c'), '\\"', '\\u0022'))) into in_documents
    from json_table(in_documents, '$.*' columns (d bigint path '$.d', v longtext path '$.v')) r; */
    level: while v_begins or v_level is not null do
        if v_begins then
            set v_begins = false;
            select json_objectagg(r.d, json_object('d', r.d, 'p', '', 'v', r.v, 'k',
                concat(json_keys(r.v), '') collate exact, 'n', json_length(json_keys(r.v)))) into v_level
            from documents(in_documents) r where json_type(r.v) = 'OBJECT';
            if v_level is null then
                leave level;
            end if;
        end if;
        -- what stands in each object and array; names and values by their place, as in _queue_misfit
        select json_objectagg(concat(v.node, '.', v.place), json_object('d', v.d, 'p', v.p, 't', v.t, 'v', v.v, 'c', (
            case when v.t = 'OBJECT' then '{}' when v.t = 'ARRAY' then '[]' when v.t = 'DEEP' then '!'
            when v.t = 'STRING' then json_quote(json_unquote(v.v)) when v.t in ('BOOLEAN', 'NULL') then v.v
            when v.v = '-0' then '0' when v.v regexp '^-?[0-9]{1,20}$' then v.v
            when abs(v.v + 0e0) < 1e18 and floor(v.v + 0e0) = v.v + 0e0 then cast(cast(v.v + 0e0 as signed) as char)
            else concat(v.v + 0e0) end) collate exact)), max(v.t in ('OBJECT', 'ARRAY', 'DEEP')),
            max(v.t = 'TWICE')
        into v_nodes, v_more, v_twice
        from (
            -- names aren't a list that is joined, which would be read anew for each value
            select n.node, n.d, c.place, if(c.place > n.names, 'TWICE',
                if(n.k is null and json_type(c.value) in ('OBJECT', 'ARRAY'), 'DEEP',
                coalesce(json_type(c.value), 'NULL'))) collate exact as t,
                concat(n.p, if(n.k is null, '[]', concat('.',
                json_quote(json_unquote(json_extract(n.k, concat('$[', c.place - 1, ']'))))))) collate exact as p,
                concat(coalesce(c.value, 'null'), '') collate exact as v
            from json_table(v_level, '$.*' columns (node for ordinality, d bigint path '$.d',
                p longtext collate exact path '$.p', v longtext collate exact path '$.v',
                k longtext collate exact path '$.k', names int path '$.n')) n
                join unnest(json_extract(n.v, if(n.k is null, '$', '$.*'))) c (place for ordinality, value json)
            where c.place <= coalesce(n.names, c.place) or not v_looked) v;
        if v_twice then -- of a name that stands more than once in an object the last is left
            select json_objectagg(r.d, json_object('d', r.d, 'v', /*M!100600 regexp_replace( */ r.v /*M!100600 , concat(
                '(?(DEFINE)(?<v>\\s*+("[^"]*+"|[{]((?&m)(,(?&m))*+|\\s*+)[}]|[[]((?&v)(,(?&v))*+|\\s*+)[]]',
                '|[^][{}",\\s]++)\\s*+)(?<m>\\s*+"[^"]*+"\\s*+:(?&v)))(?<n>"[^"]*+")\\s*+:(?&v),',
                '(?=(?s:.*?)\\k<n>\\s*+:)(?=((?&m),)*?\\s*+\\k<n>\\s*+:)|"[^"]*+"(*SKIP)(*FAIL)'), '') */))
            into in_documents from documents(in_documents) r;
            set v_looked = true, v_begins = true, out_leaves = json_array();
            iterate level;
        end if;
        set v_part = v_nodes, v_level = null;
        if v_more then
            select json_objectagg(n.place, json_object('d', n.d, 'p', n.p, 'c', n.c)) into v_part
            from json_table(v_nodes, '$.*' columns (place for ordinality, d bigint path '$.d',
                p longtext collate exact path '$.p', t varchar(20) collate exact path '$.t',
                v longtext collate exact path '$.v', c longtext collate exact path '$.c')) n
            where if(in_filter, n.t not in ('OBJECT', 'ARRAY') or json_length(n.v) = 0, n.t <> 'DEEP');
            select json_objectagg(n.place, json_object('d', n.d, 'p', n.p, 'v', n.v, 'k',
                if(n.t = 'OBJECT', concat(json_keys(n.v), '') collate exact, null), 'n',
                if(n.t = 'OBJECT', json_length(json_keys(n.v)), null))) into v_level
            from json_table(v_nodes, '$.*' columns (place for ordinality, d bigint path '$.d',
                p longtext collate exact path '$.p', t varchar(20) collate exact path '$.t',
                v longtext collate exact path '$.v')) n
            where n.t in ('OBJECT', 'ARRAY') and json_length(n.v) > 0;
        end if;
        set out_leaves = if(v_part is null, out_leaves, json_merge_preserve(out_leaves, json_extract(v_part, '$.*')));
    end while;
end;
