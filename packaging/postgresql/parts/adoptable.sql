do $$
declare
    v_revision text;
begin
    if pg_catalog.to_regclass(pg_catalog.quote_ident(pg_catalog.current_schema()) || '.queue_version') is not null then
        select v.version_num into v_revision from queue_version v;
    end if;
    if v_revision is distinct from '@REVISION@' then
        raise exception using errcode = 'object_not_in_prerequisite_state',
            message = pg_catalog.format('the schema %I has no queue of revision @REVISION@: %s', pg_catalog.current_schema(),
                coalesce('it is ' || v_revision, 'there is none')),
            hint = 'pyqueue upgrade of version @VERSION@ brings it there';
    end if;
end $$;
