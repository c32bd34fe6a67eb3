-- A row a registered worker, see queue_heartbeat. The view reads all messages, so its cost grows with them.
-- - worker: its name.
-- - kinds: where it holds messages; NULL: anywhere.
-- - info: what it says of itself.
-- - started_at: since when it is there.
-- - heartbeat_at: its last heartbeat.
-- - timeout_seconds: for how long it may be silent.
-- - by_session: whether it is alive as long as its session is.
-- - alive: whether it is alive.
-- - reserved: how many messages it holds.
-- Times are of UTC.
-- differs: a view has no comment, and can't call queue_now(): it has that clock's expression.
create or replace view queue_workers as
select w.worker, w.kinds, w.info,
    timestamp '1970-01-01 00:00:00.000000' + interval w.started_at microsecond as started_at,
    timestamp '1970-01-01 00:00:00.000000' + interval w.heartbeat_at microsecond as heartbeat_at,
    w.timeout_seconds, w.session_lock is not null as by_session,
    _queue_is_alive(w, n.now) as alive, coalesce(h.reserved, 0) as reserved
from queue_worker w
    cross join (select timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6)) as now) n
    left join (
        select q.reserved_by, count(*) as reserved
        from delayed_queue q
            cross join (select timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6)) as now) m
        where q.reserved_by is not null and q.scheduled_at > m.now group by q.reserved_by) h
        on h.reserved_by = w.worker;
