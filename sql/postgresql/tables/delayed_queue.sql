-- The messages. A row is keyed by (p_kind, p_key); scheduled_at is its delivery time and its lock.
--
-- What says where a message stands is kept apart from the lock, so that a reserve changes no indexed column and is a
-- heap-only update (docs/adr/0001-storage.md): a message that may be taken has a place in the ready line (ready_at), one
-- that has to wait has a date in the timetable (due_at) and none in the line.
create table delayed_queue (
    p_kind                 text collate "C" not null,
    p_key                  text collate "C" not null,
    entry                  bigint generated always as identity,
    payload                jsonb,
    payload_bytes          bytea,
    headers                jsonb,
    priority               smallint not null default 0,
    scheduled_at           bigint not null,
    scheduled_at_initially bigint not null,
    created_at             bigint not null,
    reserved_at            bigint,
    attempts               integer not null default 0,
    reserved_by            text,
    secret                 uuid,
    ready_at               bigint,
    due_at                 bigint,
    max_attempts           integer,
    pending                jsonb,
    pending_bytes          bytea,
    errors                 jsonb,
    source_kind            text collate "C",
    source_key             text collate "C",
    source_priority        smallint,
    constraint delayed_queue_pkey primary key (p_kind, p_key),      -- serves: queue_push, queue_get, queue_remove
    constraint delayed_queue_entry unique (entry),                  -- serves: queue_ack, queue_extend, queue_nack, queue_move
    constraint delayed_queue_one_payload check (num_nonnulls(payload, payload_bytes) = 1)
) with (fillfactor = 50);

-- serves: queue_reserve, queue_pop, queue_peek
create index delayed_queue_ready on delayed_queue (p_kind, (-priority::integer), ready_at, entry) where ready_at is not null;
-- serves: queue_reserve (what has come due), queue_stats
create index delayed_queue_due on delayed_queue (p_kind, due_at) where due_at is not null;

comment on table delayed_queue is 'Messages that wait, are ready or are held, keyed by (p_kind, p_key). Times are microseconds since 1970-01-01 UTC. Look at it through the view queue_messages; change it through the routines queue_….';
comment on column delayed_queue.p_kind is 'The queue it waits in and the type of its payload, 1 to 95 characters (a dead-letter kind: 100).';
comment on column delayed_queue.p_key is 'What makes it that message: 1 to 200 characters.';
comment on column delayed_queue.entry is 'Entry number: settles ties in the order of delivery, and is the first part of a receipt.';
comment on column delayed_queue.payload is 'The payload where it is JSON.';
comment on column delayed_queue.payload_bytes is 'The payload where it is binary; exactly one of the two is set.';
comment on column delayed_queue.headers is 'String keys, scalar values; NULL for none.';
comment on column delayed_queue.priority is 'Higher first.';
comment on column delayed_queue.scheduled_at is 'Delivery time, and the lock: while somebody holds it, when the hold ends.';
comment on column delayed_queue.scheduled_at_initially is 'Delivery time as first asked for; for people, never for logic.';
comment on column delayed_queue.created_at is 'When this entry came to be.';
comment on column delayed_queue.reserved_at is 'When the present delivery began; NULL where nobody holds it.';
comment on column delayed_queue.attempts is 'Deliveries so far.';
comment on column delayed_queue.reserved_by is 'The worker that holds it; NULL where nobody does.';
comment on column delayed_queue.secret is 'Secret of the present delivery, the second part of its receipt; NULL where there is none.';
comment on column delayed_queue.ready_at is 'Place in the ready line; NULL while it waits. Never changed by a reserve.';
comment on column delayed_queue.due_at is 'When the timetable looks at it again: the delivery time of what waits, or the end of a hold that lasts.';
comment on column delayed_queue.max_attempts is 'Deliveries it may have, where that differs from its kind.';
comment on column delayed_queue.pending is 'The newest push onto a held message, delivered once the present delivery is done: {payload, headers, scheduled_at, priority, …}.';
comment on column delayed_queue.pending_bytes is 'The binary payload of that push.';
comment on column delayed_queue.errors is 'The last ten errors: [{at, attempt, by, error}].';
comment on column delayed_queue.source_kind is 'A dead letter: the kind it came from.';
comment on column delayed_queue.source_key is 'A dead letter: the key it had there.';
comment on column delayed_queue.source_priority is 'A dead letter: the priority it had there.';
