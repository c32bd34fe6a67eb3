create or replace function _queue_is_alive(in_worker queue_worker, in_now bigint) returns boolean language sql volatile
    return case
        when in_worker.session_lock is null then
            abs(in_now - in_worker.heartbeat_at) < in_worker.timeout_seconds * 1000000
        when in_worker.session_id = pg_backend_pid() then in_worker.session_lock = any (_queue_session_locks())
        else not (pg_try_advisory_lock_shared(hashoid('queue_worker'::regclass), in_worker.session_lock)
            and pg_advisory_unlock_shared(hashoid('queue_worker'::regclass), in_worker.session_lock)) end;

comment on function _queue_is_alive(queue_worker, bigint) is
$$Whether a registered worker is alive, by its session or by its heartbeat. A session can't see its own lock by trying
to take it, and looks for it. A heartbeat that is as far ahead is of a clock that was set back, and says nothing.
in_worker: its row. in_now: the time of the call.
Result: true or false; NULL where there is no row.
Locks: a shared advisory lock, for an instant; it never waits.
differs: on MariaDB and MySQL it is one expression, which tools/expand_mysql.py writes out.$$;
