-- Up to which position the log was pruned, for each kind, name and event: appended by queue_prune, and folded. So a
-- reader is told of what it will never see.
create table if not exists queue_log_gone (
    p_kind                 varchar(100) not null,
    name                   varchar(255) not null,
    event                  varchar(10) not null,
    position               bigint not null,
    primary key (p_kind, name, event, position), -- serves: queue_read (of a kind)
    key queue_log_gone_name (name) -- serves: queue_read (of a topic)
) engine = innodb row_format = dynamic collate exact
    comment 'What the log has no longer; internal. (pyqueue_sql)';
