-- Every message with real timestamps (of UTC), its age in seconds and its state: scheduled, ready, reserved, expired, waiting (see
-- queue_get). errors are the last ten; source_kind and source_key say where a dead letter came from. The secrets of receipts
-- don't show.
-- differs: there is no type for an age; a view has no comment, and can't call queue_now(): it has that clock's expression.
create or replace view queue_messages as
select q.p_kind, q.p_key,
    case when q.reserved_at is null and q.ready_at is null and q.due_at is null then 'waiting'
        when q.reserved_at is null then if(q.scheduled_at <= n.now, 'ready', 'scheduled')
        else if(q.scheduled_at <= n.now, 'expired', 'reserved') end as state,
    q.payload, q.payload_bytes, q.headers, q.priority,
    timestamp '1970-01-01 00:00:00.000000' + interval q.scheduled_at microsecond as scheduled_at,
    timestamp '1970-01-01 00:00:00.000000' + interval q.scheduled_at_initially microsecond as scheduled_at_initially,
    timestamp '1970-01-01 00:00:00.000000' + interval q.created_at microsecond as created_at,
    timestamp '1970-01-01 00:00:00.000000' + interval q.reserved_at microsecond as reserved_at,
    q.attempts, q.max_attempts, q.reserved_by, cast((n.now - q.created_at) / 1000000 as decimal(20,6)) as age, q.errors,
    q.source_kind, q.source_key, q.entry
from delayed_queue q
    cross join (select timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6)) as now) n;
