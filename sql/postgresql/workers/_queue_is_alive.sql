create or replace function _queue_is_alive(in_session_lock integer, in_session_id integer, in_until bigint,
    in_now bigint)
    returns boolean language sql volatile
    return case
        when in_session_lock is null then in_until > in_now
        when in_session_id = pg_backend_pid() then exists (
            select from pg_locks l
            where l.locktype = 'advisory' and l.pid = pg_backend_pid() and l.mode = 'ExclusiveLock' and l.objsubid = 2
                and l.classid::bigint = hashoid('queue_worker'::regclass) & 4294967295
                and l.objid::bigint = in_session_lock & 4294967295)
        else not (pg_try_advisory_lock_shared(hashoid('queue_worker'::regclass), in_session_lock)
            and pg_advisory_unlock_shared(hashoid('queue_worker'::regclass), in_session_lock)) end;

comment on function _queue_is_alive(integer, integer, bigint, bigint) is
$$Whether a registered worker is alive.
in_session_lock: the advisory lock that its session holds, NULL: it is alive by its heartbeat. in_session_id: the
process of that session: a session can't see its own lock by trying to take it. in_until: when its heartbeat is too old.
in_now: the time of the call.
Result: true or false.
Locks: a shared advisory lock, for an instant; it never waits.
differs: on MariaDB and MySQL it is one expression with is_used_lock().$$;
