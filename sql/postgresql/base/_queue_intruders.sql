create or replace function _queue_intruders(in_schema oid, out fault text, out remedy text) language plpgsql
    set search_path = pg_catalog, pg_temp as $$
declare
    v_schema text;
    v_owner oid;
    v_creators text;
begin
    select quote_ident(n.nspname), case when r.rolname = 'pg_database_owner' then d.datdba else n.nspowner end
    into v_schema, v_owner
    from pg_namespace n join pg_roles r on r.oid = n.nspowner, pg_database d
    where n.oid = in_schema and d.datname = current_database();
    select string_agg(distinct case when a.grantee = 0 then 'public'
        else quote_ident(r.rolname) end, ', ') into v_creators
    from pg_namespace n, aclexplode(n.nspacl) a left join pg_roles r on r.oid = a.grantee
    where n.oid = in_schema and a.privilege_type = 'CREATE' and a.grantee <> n.nspowner
        and (a.grantee = 0 or not pg_has_role(a.grantee, current_user, 'member'));
    if v_creators is not null then
        fault := format('in the schema %s others may create: %s', v_schema, v_creators);
        remedy := format('revoke create on schema %s from %s', v_schema, v_creators);
    elsif not pg_has_role(v_owner, current_user, 'member') then
        fault := format('the schema %s belongs to another role, %s, which may create in it', v_schema,
            v_owner::regrole);
        remedy := format('alter schema %s owner to %I; or let %s install', v_schema, current_user, v_owner::regrole);
    else
        select format('in the schema %s others have made %s', v_schema, string_agg(o.name, ', ' order by o.name)),
            string_agg(o.undo, '; ' order by o.name)
        into fault, remedy
        from (
            select p.oid::regprocedure::text as name, 'drop routine ' || p.oid::regprocedure::text as undo
            from pg_proc p
            where p.pronamespace = in_schema and not pg_has_role(p.proowner, current_user, 'member')
            union all
            select p.oid::regoperator::text, format('drop operator %s (%s, %s)', p.oid::regoper,
                case when p.oprleft = 0 then 'none' else format_type(p.oprleft, null) end,
                format_type(p.oprright, null))
            from pg_operator p
            where p.oprnamespace = in_schema and not pg_has_role(p.oprowner, current_user, 'member')
            union all
            select c.oid::regclass::text, 'drop table ' || c.oid::regclass::text
            from pg_class c
            where c.relnamespace = in_schema and c.relname ~ '^(queue_|delayed_queue)'
                and not pg_has_role(c.relowner, current_user, 'member')
            limit 10) o
        having count(*) > 0;
    end if;
    remedy := remedy || '; or a schema of its own: pyqueue upgrade --schema pyqueue';
end $$;

comment on function _queue_intruders(oid) is
$$Who may put something into the schema of the queue beside its owner, those who may become him, and superusers. An
overload of our names, or at an installation a function or an operator, would run with the rights of the owner. Tables
and types of others do no harm.
in_schema: the schema.
Result: fault, NULL: there is none; remedy: what to do about it.
Locks: none.
differs: only here. On MariaDB and MySQL a name leads to one database, and nobody can make an operator.$$;
