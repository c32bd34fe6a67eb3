-- Keys of messages that were acked, popped or moved away, for the kinds that remember them (dedup_seconds).
create table if not exists queue_dedup (
    p_kind                 varchar(100) not null,
    p_key                  varchar(200) not null,
    ended_at               bigint not null,
    primary key (p_kind, p_key), -- serves: queue_push
    key queue_dedup_ended (p_kind, ended_at) -- serves: queue_prune
) engine = innodb row_format = dynamic collate exact
    comment 'Keys that a push still ignores although their messages have ended; see dedup_seconds of queue_define. (pyqueue_sql)';
