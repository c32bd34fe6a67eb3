-- Binds each routine to the schema that it is in. What a routine calls and reads is written without a schema, since any
-- will do; from here on it is named with it, and the search path of what runs as the owner has pg_catalog alone. So no
-- function, operator, type or table that somebody may one day put into the schema is taken for one of the server's or
-- for one of ours. What is left to an overload of our own names is a call that doesn't fit its parameters exactly:
-- there is none.
--
-- A routine that says enable_seqscan = off is planned by the order of indexes alone, and one that says
-- enable_hashjoin = off joins row by row: plans are kept, and a table may become a thousand times as large (ADR 13).
do $$
declare
    v_schema constant text := pg_catalog.quote_ident(pg_catalog.current_schema());
    v_routine record;
begin
    for v_routine in
        select p.oid::regprocedure as name, p.prosecdef, p.proconfig,
            replace(pg_get_functiondef(p.oid), p.prosrc, b.body) as text
        from pg_proc p, lateral (
            -- the name of a relation in a string, other strings and comments, and what is between them
            select string_agg(case
                when m.found[1] ~ '::regclass$'
                    then format('%L::regclass', v_schema || '.' || split_part(m.found[1], '''', 2))
                when m.found[1] ~ '^(''|--)' then m.found[1]
                else regexp_replace(m.found[1], -- not constraints, nor parameters as those of this routine
                    '(?<![[:alnum:]_.])(?!' || p.proname || '\.)(_?queue_|delayed_queue)(?![[:alnum:]_]*_pkey)',
                    replace(v_schema, '\', '\\') || '.\1', 'g') end, '' order by m.n) as body
            from regexp_matches(p.prosrc, '''[a-z0-9_]+''::regclass|''(?:[^'']|'''')*''|--[^\n]*|(?:[^''-]|-(?!-))+',
                'g')
                with ordinality m (found, n)) b
        where p.pronamespace = v_schema::regnamespace and p.proname ~ '^_?queue_' and p.prosqlbody is null
    loop
        execute v_routine.text;
        if v_routine.prosecdef then
            execute format('alter function %s set search_path to pg_catalog, pg_temp', v_routine.name);
        end if;
        if v_routine.proconfig @> '{enable_seqscan=off}' then
            execute format('alter function %s set enable_bitmapscan = off set enable_sort = off set jit = off',
                v_routine.name);
        end if;
        if v_routine.proconfig @> '{enable_hashjoin=off}' then
            execute format('alter function %s set enable_mergejoin = off', v_routine.name);
        end if;
    end loop;
end $$;
