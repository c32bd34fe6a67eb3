create or replace function _queue_session_locks() returns integer[] language sql volatile
    return array(
        select l.objid::bigint::bit(32)::integer from pg_locks l
        where l.locktype = 'advisory' and l.pid = pg_backend_pid() and l.mode = 'ExclusiveLock' and l.objsubid = 2
            and l.classid::bigint = hashoid('queue_worker'::regclass) & 4294967295);

comment on function _queue_session_locks() is
$$The locks that say that workers of this session are alive: one, once it has registered one.
Result: their numbers, as in queue_worker.
Locks: none.
differs: on MariaDB and MySQL the number of the session makes the name of its lock.$$;
