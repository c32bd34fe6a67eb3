-- A row a kind that has messages, settings or a past: paused; how many are ready, scheduled, reserved, expired, waiting (in line
-- for something else than time) and total now; next_at, when the next scheduled one falls due (of UTC); oldest_ready_seconds,
-- for how long the oldest ready one has been so; and how many were pushed, reserved, popped, acked, nacked, moved, dead and
-- expired so far; and whether it is drained, see queue_drain: done is that where the total is 0. It counts the messages: its cost grows with them.
-- differs: a view has no comment, and can't call queue_now(): it has that clock's expression.
create or replace view queue_stats as
select u.p_kind, max(u.paused) as paused, cast(sum(u.ready) as signed) as ready, cast(sum(u.scheduled) as signed) as scheduled,
    cast(sum(u.reserved) as signed) as reserved, cast(sum(u.expired) as signed) as expired, cast(sum(u.waiting) as signed) as waiting,
    cast(sum(u.total) as signed) as total,
    timestamp '1970-01-01 00:00:00.000000' + interval max(u.next_at) microsecond as next_at,
    max(u.oldest_ready) * 0.000001 as oldest_ready_seconds,
    cast(sum(u.pushed_total) as signed) as pushed_total, cast(sum(u.reserved_total) as signed) as reserved_total,
    cast(sum(u.popped_total) as signed) as popped_total, cast(sum(u.acked_total) as signed) as acked_total,
    cast(sum(u.nacked_total) as signed) as nacked_total, cast(sum(u.moved_total) as signed) as moved_total,
    cast(sum(u.dead_total) as signed) as dead_total, cast(sum(u.expired_total) as signed) as expired_total,
    max(u.draining) as draining
from (
    select q.p_kind, 0 as paused,
        count(case when q.reserved_at is null and q.scheduled_at <= n.now and coalesce(q.ready_at, q.due_at) is not null then 1 end) as ready,
        count(case when q.reserved_at is null and q.scheduled_at > n.now and coalesce(q.ready_at, q.due_at) is not null then 1 end) as scheduled,
        count(case when q.reserved_at is not null and q.scheduled_at > n.now then 1 end) as reserved,
        count(case when q.reserved_at is not null and q.scheduled_at <= n.now then 1 end) as expired,
        count(case when coalesce(q.ready_at, q.due_at, q.reserved_at) is null then 1 end) as waiting,
        count(*) as total,
        min(case when q.scheduled_at > n.now and q.reserved_at is null and coalesce(q.ready_at, q.due_at) is not null then q.scheduled_at end) as next_at,
        max(case when q.reserved_at is null and q.scheduled_at <= n.now and coalesce(q.ready_at, q.due_at) is not null then n.now - q.scheduled_at end) as oldest_ready,
        count(case when q.source_kind is null then 1 end) as pushed_total, sum(q.deliveries) as reserved_total, 0 as popped_total, 0 as acked_total, 0 as nacked_total, 0 as moved_total,
        0 as dead_total, 0 as expired_total, 0 as draining
    from delayed_queue q
        cross join (select timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6)) as now) n
    group by q.p_kind
    union all
    select c.p_kind, 0, 0, 0, 0, 0, 0, 0, null, null, coalesce(sum(c.pushed), 0), coalesce(sum(c.reserved), 0),
        coalesce(sum(c.popped), 0), coalesce(sum(c.acked), 0), coalesce(sum(c.nacked), 0), coalesce(sum(c.moved), 0),
        coalesce(sum(c.dead), 0), coalesce(sum(c.expired), 0), 0
    from queue_count c group by c.p_kind
    union all
    select s.p_kind, s.paused, 0, 0, 0, 0, 0, 0, null, null, 0, 0, 0, 0, 0, 0, 0, 0, s.draining
    from queue_kind s where s.p_kind <> '') u
group by u.p_kind;
