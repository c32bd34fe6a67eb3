create or replace function _queue_exposed(in_schema oid, out fault text, out remedy text) language sql stable
    set search_path = pg_catalog, pg_temp as $$
select format('anybody may execute routines of the queue (%s), such as %s', count(*), min(p.oid::regprocedure::text)),
    'pyqueue upgrade takes that back; a restore without rights (pg_restore --no-acl) gives it'
from pg_proc p
where p.pronamespace = in_schema and p.prosecdef and p.proname ~ '^_?queue_' and exists (
    select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
        where a.grantee = 0 and a.privilege_type = 'EXECUTE')
having count(*) > 0
$$;

comment on function _queue_exposed(oid) is
$$Whether routines of the queue may be executed by PUBLIC: they run with the rights of their owner, so anybody could
take messages and drop queues.
in_schema: the schema of the queue.
Result: fault, NULL: none may; remedy: what to do about it.
Locks: none.
differs: only here. Nobody may execute a routine of MariaDB and MySQL who wasn't granted it.$$;
