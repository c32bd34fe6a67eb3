create or replace view queue_workers as
select w.worker, w.kinds, w.info, queue_timestamp(w.started_at) as started_at, queue_timestamp(w.heartbeat_at) as heartbeat_at,
    w.timeout_seconds, w.session_lock is not null as by_session,
    _queue_is_alive(w.session_lock, w.session_id, (w.heartbeat_at + w.timeout_seconds * 1000000)::bigint, n.now) as alive,
    coalesce(r.reserved, 0) as reserved
from queue_worker w cross join (select queue_now() as now) n left join (
    select q.reserved_by, count(*) as reserved from delayed_queue q cross join (select queue_now() as now) m
    where q.reserved_by is not null and q.scheduled_at > m.now group by q.reserved_by) r on r.reserved_by = w.worker;

comment on view queue_workers is
$$Registered workers (see queue_heartbeat): where they hold messages (NULL: anywhere), what they say of themselves, since when they
are there, their last heartbeat and for how long they may be silent; by_session: whether they are alive as long as their session is;
alive; and reserved, how many messages they hold. It reads all messages to count them.$$;
