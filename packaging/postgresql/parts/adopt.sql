do $$
declare
    v_home constant oid := quote_ident(current_schema())::regnamespace;
    v_member text;
begin
    for v_member in
        select format('%s %s', case c.relkind when 'S' then 'sequence' when 'v' then 'view' else 'table' end, c.oid::regclass)
        from pg_catalog.pg_class c
        where c.relnamespace = v_home and c.relkind in ('r', 'v') and c.relname = any ('{@RELATIONS@}')
            or c.relnamespace = v_home and c.relkind = 'S' and (c.relname = any ('{@RELATIONS@}') or exists (
                select from pg_catalog.pg_depend d join pg_catalog.pg_class t on d.refobjid = t.oid
                where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.refclassid = 'pg_class'::regclass
                    and d.deptype in ('a', 'i') and t.relname = any ('{@RELATIONS@}')))
        union all
        select format('function %s', p.oid::regprocedure) from pg_catalog.pg_proc p
        where p.pronamespace = v_home and p.proname = any ('{@CALLABLES@}')
    loop
        execute 'alter extension pyqueue_sql add ' || v_member;
    end loop;
end $$;
