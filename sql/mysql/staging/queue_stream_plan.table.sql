-- Who may hand out parts of a read: whoever planned it last, so that tasks of a driver that is gone add nothing to it.
create table if not exists queue_stream_plan (
    source                 varchar(230) not null,
    plan                   bigint not null,
    sealed                 boolean not null,
    begun_at               bigint not null,
    primary key (source), -- serves: queue_stream_plan, queue_stream_reserve
    key queue_stream_plan_begun (begun_at) -- serves: queue_prune
) engine = innodb row_format = dynamic collate exact
    comment 'Reads that are not yet committed; those older than a week are pruned. (pyqueue_sql)';
