-- Up to which position the log was pruned, for each kind, name and event: appended by queue_prune, and folded. So a
-- reader is told of what it will never see.
create table queue_log_gone (
    p_kind   text collate "C" not null,
    name     text collate "C" not null,
    event    text collate "C" not null,
    position bigint not null,
    constraint queue_log_gone_pkey primary key (p_kind, name, event, position)  -- serves: queue_read (of a kind)
);
-- serves: queue_read (of a topic)
create index queue_log_gone_name on queue_log_gone (name);
comment on table queue_log_gone is 'What the log has no longer; internal. (pyqueue_sql)';
