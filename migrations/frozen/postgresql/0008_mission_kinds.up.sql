-- written by hand: the change of queue_kind, which is another transaction than that of the messages
alter table queue_kind
    add column semaphores boolean not null default false,
    add column max_reserved integer,
    add column rate_per_second numeric,
    add column filter_index boolean not null default false,
    add column log_seconds numeric not null default 0;
--;
-- squawk-ignore require-concurrent-index-deletion -- a row a kind
drop index queue_kind_keeps;
--;
-- serves: queue_ack_many, queue_pop, queue_purge (is there anything to keep, or anybody to tell?)
-- squawk-ignore require-concurrent-index-creation -- a row a kind
create index queue_kind_keeps on queue_kind (p_kind)
    where history_seconds > 0 or dedup_seconds > 0 or max_reserved is not null or log_seconds > 0;
