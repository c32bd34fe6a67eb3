-- Who may hand out parts of a read: whoever planned it last, so that tasks of a driver that is gone add nothing to it.
create table queue_stream_plan (
    source   text collate "C" not null,
    plan     bigint not null,
    sealed   boolean not null,
    begun_at bigint not null,
    constraint queue_stream_plan_pkey primary key (source)          -- serves: queue_stream_plan, queue_stream_reserve
);
-- serves: queue_prune
create index queue_stream_plan_begun on queue_stream_plan (begun_at);
comment on table queue_stream_plan is 'Reads that are not yet committed; those older than a week are pruned. (pyqueue_sql)';
comment on column queue_stream_plan.sealed is 'Whether it was planned again after something was handed out: then nothing is added.';
