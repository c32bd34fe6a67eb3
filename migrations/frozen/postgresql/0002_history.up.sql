-- written by hand: the change of the tables
-- What has ended, for the kinds that keep it (history_seconds). Only ever appended, and pruned by age.
create table queue_history (
    p_kind                 text collate "C" not null,
    p_key                  text collate "C" not null,
    entry                  bigint not null,
    outcome                text collate "C" not null,
    to_kind                text collate "C",
    payload                jsonb,
    payload_bytes          bytea,
    headers                jsonb,
    priority               smallint not null,
    scheduled_at_initially bigint not null,
    created_at             bigint not null,
    reserved_at            bigint,
    finished_at            bigint not null,
    attempts               integer not null,
    reserved_by            text,
    errors                 jsonb,
    constraint queue_history_pkey primary key (p_kind, finished_at, entry)  -- serves: queue_prune, looking back by time
);
--;
-- serves: looking back by key
create index queue_history_key on queue_history (p_kind, p_key);
--;
comment on table queue_history is 'Messages that have ended, for as long as history_seconds of their kind says. Times are microseconds since 1970-01-01 UTC; queue_timestamp() makes them readable. Select from it as queue_operator.';
--;
comment on column queue_history.p_kind is 'The kind it was in.';
--;
comment on column queue_history.p_key is 'The key it had.';
--;
comment on column queue_history.entry is 'Entry number; each entry ends once.';
--;
comment on column queue_history.outcome is 'How it ended: acked, popped, moved, dead, removed.';
--;
comment on column queue_history.to_kind is 'Where it went: the target of a move, the kind of its dead letter.';
--;
comment on column queue_history.payload is 'The payload where it is JSON, as last delivered.';
--;
comment on column queue_history.payload_bytes is 'The payload where it is binary.';
--;
comment on column queue_history.headers is 'Its headers.';
--;
comment on column queue_history.priority is 'Its priority.';
--;
comment on column queue_history.scheduled_at_initially is 'Delivery time as first asked for.';
--;
comment on column queue_history.created_at is 'When it came into the kind.';
--;
comment on column queue_history.reserved_at is 'When its last delivery began; NULL where it was never delivered.';
--;
comment on column queue_history.finished_at is 'When it ended.';
--;
comment on column queue_history.attempts is 'Deliveries that it had.';
--;
comment on column queue_history.reserved_by is 'The worker that held it last; NULL where nobody did when it ended.';
--;
comment on column queue_history.errors is 'Its last ten errors: [{at, attempt, by, error}].';
--;
-- Keys of messages that were acked, popped or moved away, for the kinds that remember them (dedup_seconds).
create table queue_dedup (
    p_kind   text collate "C" not null,
    p_key    text collate "C" not null,
    ended_at bigint not null,
    constraint queue_dedup_pkey primary key (p_kind, p_key)          -- serves: queue_push
);
--;
-- serves: queue_prune
create index queue_dedup_ended on queue_dedup (p_kind, ended_at);
--;
comment on table queue_dedup is 'Keys that a push still ignores although their messages have ended; see dedup_seconds of queue_define.';
--;
-- Messages as plain rows, for INSERT, COPY and writers that know nothing of routines: a trigger puts them into delayed_queue
-- and takes them out of here, in the same statement. Unlogged because nothing stays.
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
    constraint queue_inbox_pkey primary key (id)                     -- serves: the trigger queue_inbox
);
--;
comment on table queue_inbox is 'INSERT or COPY messages into it. It is empty to all who look: what comes in is pushed at once. A key that is taken is ignored, a row that is wrong names itself, and then nothing of the statement is kept.';
--;
comment on column queue_inbox.id is 'The row; never given.';
--;
comment on column queue_inbox.p_kind is 'The kind, 1 to 95 characters.';
--;
comment on column queue_inbox.p_key is 'The key, 1 to 200 characters; NULL: a time-ordered UUID.';
--;
comment on column queue_inbox.payload is 'The payload as JSON text.';
--;
comment on column queue_inbox.payload_bytes is 'The payload where it is binary; exactly one of the two is set.';
--;
comment on column queue_inbox.headers is 'The headers as JSON text; NULL for none.';
--;
comment on column queue_inbox.priority is 'Higher first; NULL: 0.';
--;
comment on column queue_inbox.delay_seconds is 'Deliver so many seconds from now; NULL: at once.';
--;
comment on column queue_inbox.scheduled_at is 'Deliver at this time, in microseconds since 1970-01-01 UTC; not with delay_seconds.';
--;
comment on column queue_inbox.attempts is 'Deliveries that are behind it already; NULL: 0.';
--;
comment on column queue_inbox.max_attempts is 'Deliveries it may have; NULL: as its kind says.';
--;
alter table queue_kind
    add column dedup_seconds numeric not null default 0,
    add column history_seconds numeric not null default 0,
    add column payload_shape jsonb;
--;
-- squawk-ignore require-concurrent-index-creation -- a row a kind
create index queue_kind_keeps on queue_kind (p_kind) where history_seconds > 0 or dedup_seconds > 0;
--;
-- what can be seen of the messages is no longer in the counters
insert into queue_count (p_kind, pushed, reserved)
select q.p_kind, count(q.source_kind) - count(*), -count(q.reserved_at) from delayed_queue q group by q.p_kind;
