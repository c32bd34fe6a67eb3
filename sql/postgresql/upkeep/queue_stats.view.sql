create or replace view queue_stats as
select u.p_kind, bool_or(u.paused) as paused, sum(u.ready)::bigint as ready, sum(u.scheduled)::bigint as scheduled,
    sum(u.reserved)::bigint as reserved, sum(u.expired)::bigint as expired, sum(u.waiting)::bigint as waiting,
    sum(u.total)::bigint as total, queue_timestamp(max(u.next_at)) as next_at,
    max(u.oldest_ready) / 1000000.0 as oldest_ready_seconds, sum(u.pushed_total)::bigint as pushed_total,
    sum(u.reserved_total)::bigint as reserved_total, sum(u.popped_total)::bigint as popped_total,
    sum(u.acked_total)::bigint as acked_total, sum(u.nacked_total)::bigint as nacked_total,
    sum(u.moved_total)::bigint as moved_total, sum(u.dead_total)::bigint as dead_total,
    sum(u.expired_total)::bigint as expired_total, sum(u.lost_total)::bigint as lost_total,
    bool_or(u.draining) as draining
from (
    select q.p_kind, false as paused,
        count(*) filter (where q.reserved_at is null and q.scheduled_at <= n.now and not w.waits) as ready,
        count(*) filter (where q.reserved_at is null and q.scheduled_at > n.now and not w.waits) as scheduled,
        count(*) filter (where q.reserved_at is not null and q.scheduled_at > n.now) as reserved,
        count(*) filter (where q.reserved_at is not null and q.scheduled_at <= n.now) as expired,
        count(*) filter (where w.waits) as waiting,
        count(*) as total,
        min(q.scheduled_at) filter (where q.scheduled_at > n.now and q.reserved_at is null and not w.waits) as next_at,
        max(n.now - q.scheduled_at) filter (where q.reserved_at is null and q.scheduled_at <= n.now
            and not w.waits) as oldest_ready,
        count(*) filter (where q.source_kind is null) as pushed_total, count(q.reserved_at) as reserved_total,
        0::bigint as popped_total, 0::bigint as acked_total, 0::bigint as nacked_total, 0::bigint as moved_total,
        0::bigint as dead_total, 0::bigint as expired_total, 0::bigint as lost_total, false as draining
    from delayed_queue q cross join (select queue_now() as now) n
        cross join lateral (select num_nonnulls(q.ready_at, q.due_at, q.reserved_at) = 0 as waits) w
    group by q.p_kind
    union all
    select c.p_kind, false as paused, 0, 0, 0, 0, 0, 0, null as next_at, null as oldest_ready,
        coalesce(sum(c.pushed), 0)::bigint, coalesce(sum(c.reserved), 0)::bigint, coalesce(sum(c.popped), 0)::bigint,
        coalesce(sum(c.acked), 0)::bigint, coalesce(sum(c.nacked), 0)::bigint, coalesce(sum(c.moved), 0)::bigint,
        coalesce(sum(c.dead), 0)::bigint, coalesce(sum(c.expired), 0)::bigint, coalesce(sum(c.lost), 0)::bigint,
        false as draining
    from queue_count c group by c.p_kind
    union all
    select s.p_kind, s.paused, 0, 0, 0, 0, 0, 0, null as next_at, null as oldest_ready, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        s.draining
    from queue_kind s) u
group by u.p_kind;

comment on view queue_stats is
$$A row a kind that has messages, settings or a past. The view counts the messages, so its cost grows with them.
- p_kind: the kind.
- paused: whether reserves get nothing, see queue_pause.
- ready: how many messages may be taken now.
- scheduled: how many have a delivery time in the future.
- reserved: how many are held.
- expired: how many holds have passed their timeout, and nobody has taken the message since.
- waiting: how many wait in line, for an order key or semaphores.
- total: how many there are.
- next_at: when the next scheduled one falls due.
- oldest_ready_seconds: for how long the oldest ready one has been ready.
- pushed_total: how many were pushed so far.
- reserved_total: how many deliveries there were so far.
- popped_total: how many were popped so far.
- acked_total: how many were acked so far.
- nacked_total: how many were nacked so far.
- moved_total: how many were moved on so far.
- dead_total: how many became dead letters so far.
- expired_total: how many holds have expired so far.
- lost_total: how many receipts that were given to queue_next for this kind were lost.
- draining: whether pushes are refused, see queue_drain. The draining is done where total is 0.$$;
