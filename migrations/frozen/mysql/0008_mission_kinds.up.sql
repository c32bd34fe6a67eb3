-- written by hand: the change of queue_kind
alter table queue_kind
    add column semaphores boolean not null default false,
    add column max_reserved int,
    add column rate_per_second decimal(20,6),
    add column filter_index boolean not null default false,
    add column log_seconds decimal(20,6) not null default 0,
    algorithm = instant;
