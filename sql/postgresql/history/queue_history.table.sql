-- What has ended, for the kinds that keep it (history_seconds). Only ever appended, and pruned by age; a result is
-- added in the transaction that appends.
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
    result                 jsonb,
    constraint queue_history_pkey primary key (p_kind, finished_at, entry)  -- serves: queue_prune
);
-- serves: queue_history (looking back by key)
create index queue_history_key on queue_history (p_kind, p_key);

comment on table queue_history is 'Messages that have ended, for as long as history_seconds of their kind says. Times are microseconds since 1970-01-01 UTC; queue_timestamp() makes them readable. Select from it as queue_operator. (pyqueue_sql)';
comment on column queue_history.p_kind is 'The kind it was in.';
comment on column queue_history.p_key is 'The key it had.';
comment on column queue_history.entry is 'Entry number; each entry ends once.';
comment on column queue_history.outcome is 'How it ended: acked, popped, moved, dead, removed.';
comment on column queue_history.to_kind is 'Where it went: the target of a move, the kind of its dead letter.';
comment on column queue_history.payload is 'The payload where it is JSON, as last delivered.';
comment on column queue_history.payload_bytes is 'The payload where it is binary.';
comment on column queue_history.headers is 'Its headers.';
comment on column queue_history.priority is 'Its priority.';
comment on column queue_history.scheduled_at_initially is 'Delivery time as first asked for.';
comment on column queue_history.created_at is 'When it came into the kind.';
comment on column queue_history.reserved_at is 'When its last delivery began; NULL where it was never delivered.';
comment on column queue_history.finished_at is 'When it ended.';
comment on column queue_history.attempts is 'Deliveries that it had.';
comment on column queue_history.reserved_by is 'The worker that held it last; NULL where nobody did when it ended.';
comment on column queue_history.errors is 'Its last ten errors: [{at, attempt, by, error}].';
comment on column queue_history.result is 'What its ack gave as its result.';
