-- written by hand: the change of queue_kind
alter table queue_kind
    drop column log_seconds,
    drop column filter_index,
    drop column rate_per_second,
    drop column max_reserved,
    drop column semaphores;
