do $$
begin
    if pg_catalog.to_regclass(pg_catalog.quote_ident(pg_catalog.current_schema()) || '.delayed_queue') is not null then
        raise exception using errcode = 'duplicate_object',
            message = pg_catalog.format('the schema %I has a queue that was installed without the extension',
                pg_catalog.current_schema()),
            hint = pg_catalog.format('to adopt it: pyqueue upgrade; then create extension pyqueue_sql schema %I version '
                '''unpackaged''; then alter extension pyqueue_sql update', pg_catalog.current_schema());
    end if;
end $$;
