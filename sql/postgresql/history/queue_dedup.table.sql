-- Keys of messages that were acked, popped or moved away, for the kinds that remember them (dedup_seconds).
create table queue_dedup (
    p_kind   text collate "C" not null,
    p_key    text collate "C" not null,
    ended_at bigint not null,
    constraint queue_dedup_pkey primary key (p_kind, p_key)          -- serves: queue_push
);
-- serves: queue_prune. An expression: a push finds a key by the other index alone, see ADR 13
create index queue_dedup_ended on queue_dedup ((p_kind || ''), ended_at);
comment on table queue_dedup is 'Keys that a push still ignores although their messages have ended; see dedup_seconds of queue_define. (pyqueue_sql)';
