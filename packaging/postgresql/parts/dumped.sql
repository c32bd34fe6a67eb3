-- What pg_dump takes: the rows of all tables and the numbers of all sequences. Not the revision, which is that of the
-- scripts that are there at a restore; nor what is always empty to who looks.
do $$
declare
    v_table regclass;
begin
    for v_table in
        select c.oid::regclass from pg_catalog.pg_class c
        join pg_catalog.pg_depend d on d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e'
        join pg_catalog.pg_extension e on d.refclassid = 'pg_extension'::regclass and d.refobjid = e.oid
        where e.extname = 'pyqueue_sql' and c.relkind in ('r', 'S') and c.relname not in ('queue_version', 'queue_inbox')
        order by c.oid
    loop
        perform pg_catalog.pg_extension_config_dump(v_table, '');
    end loop;
end $$;
