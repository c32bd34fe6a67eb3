-- What happened in the kinds that have log_seconds, in the order of its positions. Only ever appended, and pruned by
-- age. Who appends has locked a row of queue_log_epoch before, by which readers know how far all is committed.
create table if not exists queue_log (
    position               bigint not null auto_increment,
    event                  varchar(10) not null,
    name                   varchar(255)
        comment 'What a pattern is compared with: the topic, or the kind of what was not published; NULL: a copy of what stands under the topic.',
    topic                  varchar(255),
    copy_of                bigint
        comment 'Of a copy, the position of what stands under the topic.',
    topic_only             boolean not null default false
        comment 'Whether it stands for its topic alone: the kind that it was logged for keeps it no longer, and p_kind has a copy.',
    p_kind                 varchar(100) not null,
    p_key                  varchar(200) not null,
    entry                  bigint not null,
    to_kind                varchar(100),
    payload                json,
    payload_bytes          longblob,
    headers                json,
    created_at             bigint not null,
    primary key (position), -- serves: queue_read (of a pattern)
    key queue_log_kind (p_kind, position), -- serves: queue_read (of a kind), queue_prune
    key queue_log_topic (topic, copy_of, position) -- serves: queue_read (of a topic), queue_prune
) engine = innodb row_format = dynamic collate exact
    comment 'The event log, see queue_read. Times are microseconds since 1970-01-01 UTC. (pyqueue_sql)';
