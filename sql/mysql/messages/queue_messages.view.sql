-- Every message, with real timestamps and its state. The secrets of receipts don't show.
-- - p_kind: the kind.
-- - p_key: the key.
-- - state: scheduled, ready, reserved, expired or waiting, see queue_get.
-- - payload: the payload where it is JSON.
-- - payload_bytes: the payload where it is binary.
-- - headers: the headers.
-- - priority: a higher one is delivered first.
-- - scheduled_at: the delivery time; while somebody holds the message, the end of the hold.
-- - scheduled_at_initially: the delivery time as first asked for.
-- - created_at: when this entry came to be.
-- - reserved_at: when the present delivery began; NULL where nobody holds the message.
-- - attempts: how many deliveries it has had.
-- - max_attempts: how many it may have, where that differs from its kind.
-- - reserved_by: the worker that holds it.
-- - age: the time since created_at, an interval on PostgreSQL, in seconds on MariaDB and MySQL.
-- - errors: the last ten: an array of {at, attempt, by, error}.
-- - source_kind: of a dead letter, the kind that it came from.
-- - source_key: of a dead letter, the key that it had there.
-- - entry: the number of the entry.
-- Times are of UTC.
-- differs: there is no type for an age; a view has no comment, and can't call queue_now(): it has that clock's
-- expression.
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
