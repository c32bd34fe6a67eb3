create or replace view queue_stats as
with n as (
    select queue_now() as now),
m as (
    select q.p_kind,
        count(*) filter (where q.reserved_at is null and q.scheduled_at <= n.now and not w.waits) as ready,
        count(*) filter (where q.reserved_at is null and q.scheduled_at > n.now and not w.waits) as scheduled,
        count(*) filter (where q.reserved_at is not null and q.scheduled_at > n.now) as reserved,
        count(*) filter (where q.reserved_at is not null and q.scheduled_at <= n.now) as expired,
        count(*) filter (where w.waits) as waiting,
        count(*) filter (where q.source_kind is null) as pushed,
        count(q.reserved_at) as delivered,
        count(*) as total,
        min(q.scheduled_at) filter (where q.scheduled_at > n.now and q.reserved_at is null and not w.waits) as next_at,
        n.now - min(q.scheduled_at) filter (where q.reserved_at is null and q.scheduled_at <= n.now
        and not w.waits) as oldest_ready
    from delayed_queue q cross join n cross
        join lateral (select num_nonnulls(q.ready_at, q.due_at, q.reserved_at) = 0 as waits) w
        group by q.p_kind, n.now),
c as (
    select c.p_kind, sum(c.pushed)::bigint as pushed, sum(c.reserved)::bigint as reserved,
        sum(c.popped)::bigint as popped, sum(c.acked)::bigint as acked, sum(c.nacked)::bigint as nacked,
        sum(c.moved)::bigint as moved, sum(c.dead)::bigint as dead, sum(c.expired)::bigint as expired,
        sum(c.lost)::bigint as lost
    from queue_count c group by c.p_kind),
k as (
    select m.p_kind from m union select c.p_kind from c union select s.p_kind from queue_kind s)
select k.p_kind, coalesce(s.paused, false) as paused, coalesce(m.ready, 0) as ready,
    coalesce(m.scheduled, 0) as scheduled, coalesce(m.reserved, 0) as reserved, coalesce(m.expired, 0) as expired,
    coalesce(m.waiting, 0) as waiting, coalesce(m.total, 0) as total, queue_timestamp(m.next_at) as next_at,
    m.oldest_ready / 1000000.0 as oldest_ready_seconds, coalesce(c.pushed, 0) + coalesce(m.pushed, 0) as pushed_total,
    coalesce(c.reserved, 0) + coalesce(m.delivered, 0) as reserved_total, coalesce(c.popped, 0) as popped_total,
    coalesce(c.acked, 0) as acked_total, coalesce(c.nacked, 0) as nacked_total, coalesce(c.moved, 0) as moved_total,
    coalesce(c.dead, 0) as dead_total, coalesce(c.expired, 0) as expired_total, coalesce(c.lost, 0) as lost_total,
    coalesce(s.draining, false) as draining
from k left join m on m.p_kind = k.p_kind left join c on c.p_kind = k.p_kind
    left join queue_kind s on s.p_kind = k.p_kind;

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
