-- Refuses a schema in which others may create: what they put there could run with the rights of the owner.
do $$
declare
    v_fault text;
    v_remedy text;
begin
    select i.fault, i.remedy into v_fault, v_remedy
    from _queue_intruders(
        (pg_catalog.quote_ident(pg_catalog.current_schema())::pg_catalog.regnamespace)::pg_catalog.oid) i;
    if v_fault is not null then
        raise exception using errcode = 'invalid_schema_definition', message = v_fault, hint = v_remedy;
    end if;
end $$;
