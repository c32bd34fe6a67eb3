-- Groups: what is pushed once all of their members are done. Nothing here is updated by every call.
-- differs: turn is PostgreSQL's lock.
create table if not exists queue_group (
    group_name             varchar(100) not null,
    then_kind              varchar(100) not null,
    then_payload           json not null,
    then_key               varchar(200) not null,
    then_priority          smallint not null,
    then_delay             bigint not null,
    on_dead                varchar(10) not null,
    fail_kind              varchar(100),
    expected               bigint,
    closed                 boolean not null,
    keep_seconds           decimal(20,6) not null,
    created_at             bigint not null,
    finished_at            bigint,
    failed                 boolean not null default false,
    forget_at              bigint,
    checked_at             bigint not null default 0,
    checked_to             bigint not null default 0,
    turn                   bigint not null default 0
        comment 'As that of queue_group_stripe.',
    primary key (group_name), -- serves: queue_group, queue_push
    key queue_group_forget (forget_at), -- serves: queue_prune (what is past its time)
    key queue_group_checked (finished_at, checked_at) -- serves: queue_prune (members whose message has gone)
) engine = innodb row_format = dynamic collate exact
    comment 'Groups, and what follows them; look at it through the view queue_groups. (pyqueue_sql)';
