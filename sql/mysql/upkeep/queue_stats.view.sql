-- A row a kind that has messages, settings or a past. The view counts the messages, so its cost grows with them.
-- - p_kind: the kind.
-- - paused: whether reserves get nothing, see queue_pause.
-- - ready: how many messages may be taken now.
-- - scheduled: how many have a delivery time in the future.
-- - reserved: how many are held.
-- - expired: how many holds have passed their timeout, and nobody has taken the message since.
-- - waiting: how many wait in line, for an order key or semaphores.
-- - total: how many there are.
-- - next_at: when the next scheduled one falls due.
-- - oldest_ready_seconds: for how long the oldest ready one has been ready.
-- - pushed_total: how many were pushed so far.
-- - reserved_total: how many deliveries there were so far.
-- - popped_total: how many were popped so far.
-- - acked_total: how many were acked so far.
-- - nacked_total: how many were nacked so far.
-- - moved_total: how many were moved on so far.
-- - dead_total: how many became dead letters so far.
-- - expired_total: how many holds have expired so far.
-- - lost_total: how many receipts that were given to queue_next for this kind were lost.
-- - draining: whether pushes are refused, see queue_drain. The draining is done where total is 0.
-- Times are of UTC.
-- differs: a view has no comment, and can't call queue_now(): it has that clock's expression.
create or replace view queue_stats as
select u.p_kind, max(u.paused) as paused, cast(sum(u.ready) as signed) as ready,
    cast(sum(u.scheduled) as signed) as scheduled, cast(sum(u.reserved) as signed) as reserved,
    cast(sum(u.expired) as signed) as expired, cast(sum(u.waiting) as signed) as waiting,
    cast(sum(u.total) as signed) as total, timestamp '1970-01-01 00:00:00.000000' +
    interval max(u.next_at) microsecond as next_at, max(u.oldest_ready) * 0.000001 as oldest_ready_seconds,
    cast(sum(u.pushed_total) as signed) as pushed_total, cast(sum(u.reserved_total) as signed) as reserved_total,
    cast(sum(u.popped_total) as signed) as popped_total, cast(sum(u.acked_total) as signed) as acked_total,
    cast(sum(u.nacked_total) as signed) as nacked_total, cast(sum(u.moved_total) as signed) as moved_total,
    cast(sum(u.dead_total) as signed) as dead_total, cast(sum(u.expired_total) as signed) as expired_total,
    cast(sum(u.lost_total) as signed) as lost_total,
    max(u.draining) as draining
from (
    select q.p_kind, 0 as paused,
        count(case when q.reserved_at is null and q.scheduled_at <= n.now
        and coalesce(q.ready_at, q.due_at) is not null then 1 end) as ready,
            count(case when q.reserved_at is null and q.scheduled_at > n.now
            and coalesce(q.ready_at, q.due_at) is not null then 1 end) as scheduled,
        count(case when q.reserved_at is not null and q.scheduled_at > n.now then 1 end) as reserved,
        count(case when q.reserved_at is not null and q.scheduled_at <= n.now then 1 end) as expired,
        count(case when coalesce(q.ready_at, q.due_at, q.reserved_at) is null then 1 end) as waiting,
        count(*) as total,
        min(case when q.scheduled_at > n.now and q.reserved_at is null
        and coalesce(q.ready_at, q.due_at) is not null then q.scheduled_at end) as next_at,
        max(case when q.reserved_at is null and q.scheduled_at <= n.now
        and coalesce(q.ready_at, q.due_at) is not null then n.now - q.scheduled_at end) as oldest_ready,
        count(case when q.source_kind is null then 1 end) as pushed_total, sum(q.deliveries) as reserved_total,
        0 as popped_total, 0 as acked_total, 0 as nacked_total, 0 as moved_total, 0 as dead_total, 0 as expired_total,
        0 as lost_total, 0 as draining
    from delayed_queue q
        cross join (select timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6)) as now) n
    group by q.p_kind
    union all
    select c.p_kind, 0, 0, 0, 0, 0, 0, 0, null, null, coalesce(sum(c.pushed), 0), coalesce(sum(c.reserved), 0),
        coalesce(sum(c.popped), 0), coalesce(sum(c.acked), 0), coalesce(sum(c.nacked), 0), coalesce(sum(c.moved), 0),
        coalesce(sum(c.dead), 0), coalesce(sum(c.expired), 0), coalesce(sum(c.lost), 0), 0
    from queue_count c group by c.p_kind
    union all
    select s.p_kind, s.paused, 0, 0, 0, 0, 0, 0, null, null, 0, 0, 0, 0, 0, 0, 0, 0, 0, s.draining
    from queue_kind s where s.p_kind <> '') u
group by u.p_kind;
