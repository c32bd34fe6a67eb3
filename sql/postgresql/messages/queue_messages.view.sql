create or replace view queue_messages as
select q.p_kind, q.p_key, _queue_state(q.ready_at, q.due_at, q.reserved_at, q.scheduled_at, n.now) as state,
    q.payload, q.payload_bytes, q.headers, q.priority, queue_timestamp(q.scheduled_at) as scheduled_at,
    queue_timestamp(q.scheduled_at_initially) as scheduled_at_initially, queue_timestamp(q.created_at) as created_at,
    queue_timestamp(q.reserved_at) as reserved_at, q.attempts, q.max_attempts, q.reserved_by,
    queue_timestamp(n.now) - queue_timestamp(q.created_at) as age, q.errors, q.source_kind, q.source_key, q.entry
from delayed_queue q cross join (select queue_now() as now) n;

comment on view queue_messages is
$$Every message, with real timestamps and its state. The secrets of receipts don't show.
- p_kind: the kind.
- p_key: the key.
- state: scheduled, ready, reserved, expired or waiting, see queue_get.
- payload: the payload where it is JSON.
- payload_bytes: the payload where it is binary.
- headers: the headers.
- priority: a higher one is delivered first.
- scheduled_at: the delivery time; while somebody holds the message, the end of the hold.
- scheduled_at_initially: the delivery time as first asked for.
- created_at: when this entry came to be.
- reserved_at: when the present delivery began; NULL where nobody holds the message.
- attempts: how many deliveries it has had.
- max_attempts: how many it may have, where that differs from its kind.
- reserved_by: the worker that holds it.
- age: the time since created_at, an interval on PostgreSQL, in seconds on MariaDB and MySQL.
- errors: the last ten: an array of {at, attempt, by, error}.
- source_kind: of a dead letter, the kind that it came from.
- source_key: of a dead letter, the key that it had there.
- entry: the number of the entry.$$;
