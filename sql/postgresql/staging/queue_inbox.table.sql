-- Messages as plain rows, for INSERT, COPY and writers that know nothing of routines: a trigger puts them into
-- delayed_queue and takes them out of here, in the same statement. Unlogged because nothing stays.
create unlogged table queue_inbox (
    id            bigint generated always as identity,
    p_kind        text collate "C",
    p_key         text collate "C",
    payload       text,
    payload_bytes bytea,
    headers       text,
    priority      integer,
    delay_seconds numeric,
    scheduled_at  bigint,
    attempts      integer,
    max_attempts  integer,
    constraint queue_inbox_pkey primary key (id)                     -- serves: queue_inbox (what its trigger takes out again)
);

comment on table queue_inbox is 'INSERT or COPY messages into it. It is empty to all who look: what comes in is pushed at once. A key that is taken is ignored, a row that is wrong names itself, and then nothing of the statement is kept. (pyqueue_sql)';
comment on column queue_inbox.id is 'The row; never given.';
comment on column queue_inbox.p_kind is 'The kind, 1 to 95 characters.';
comment on column queue_inbox.p_key is 'The key, 1 to 200 characters; NULL: a time-ordered UUID.';
comment on column queue_inbox.payload is 'The payload as JSON text.';
comment on column queue_inbox.payload_bytes is 'The payload where it is binary; both NULL: a payload of JSON null.';
comment on column queue_inbox.headers is 'The headers as JSON text; NULL for none.';
comment on column queue_inbox.priority is 'Higher first; NULL: 0.';
comment on column queue_inbox.delay_seconds is 'Deliver so many seconds from now; NULL: at once.';
comment on column queue_inbox.scheduled_at is 'Deliver at this time, in microseconds since 1970-01-01 UTC; not with delay_seconds.';
comment on column queue_inbox.attempts is 'Deliveries that are behind it already; NULL: 0.';
comment on column queue_inbox.max_attempts is 'Deliveries it may have; NULL: as its kind says.';
