create or replace view queue_workers as
select w.worker, w.kinds, w.info, queue_timestamp(w.started_at) as started_at,
    queue_timestamp(w.heartbeat_at) as heartbeat_at, w.timeout_seconds, w.session_lock is not null as by_session,
    _queue_is_alive(w, n.now) as alive, coalesce(r.reserved, 0) as reserved
from queue_worker w cross join (select queue_now() as now) n left join (
    select q.reserved_by, count(*) as reserved from delayed_queue q cross join (select queue_now() as now) m
    where q.reserved_by is not null and q.scheduled_at > m.now group by q.reserved_by) r on r.reserved_by = w.worker;

comment on view queue_workers is
$$A row a registered worker, see queue_heartbeat. The view reads all messages, so its cost grows with them.
- worker: its name.
- kinds: where it holds messages; NULL: anywhere.
- info: what it says of itself.
- started_at: since when it is there.
- heartbeat_at: its last heartbeat.
- timeout_seconds: for how long it may be silent.
- by_session: whether it is alive as long as its session is.
- alive: whether it is alive.
- reserved: how many messages it holds.$$;
