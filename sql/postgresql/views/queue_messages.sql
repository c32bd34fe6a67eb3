create or replace view queue_messages as
select q.p_kind, q.p_key, case when num_nonnulls(q.ready_at, q.due_at, q.reserved_at) = 0 then 'waiting'
        else _queue_state(q.reserved_at, q.scheduled_at, n.now) end as state, q.payload, q.payload_bytes, q.headers,
    q.priority, queue_timestamp(q.scheduled_at) as scheduled_at,
    queue_timestamp(q.scheduled_at_initially) as scheduled_at_initially, queue_timestamp(q.created_at) as created_at,
    queue_timestamp(q.reserved_at) as reserved_at, q.attempts, q.max_attempts, q.reserved_by,
    queue_timestamp(n.now) - queue_timestamp(q.created_at) as age, q.errors, q.source_kind, q.source_key, q.entry
from delayed_queue q cross join (select queue_now() as now) n;

comment on view queue_messages is
$$Every message with real timestamps, its age and its state: scheduled, ready, reserved, expired, waiting (see queue_get). errors are the
last ten; source_kind and source_key say where a dead letter came from. The secrets of receipts don't show.$$;
