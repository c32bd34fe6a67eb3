-- written by hand: the change of queue_kind, which is another transaction than that of the messages
drop index queue_kind_keeps;
--;
alter table queue_kind
    drop column log_seconds,
    drop column filter_index,
    drop column rate_per_second,
    drop column max_reserved,
    drop column semaphores;
--;
create index queue_kind_keeps on queue_kind (p_kind) where history_seconds > 0 or dedup_seconds > 0;
