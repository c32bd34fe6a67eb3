create sequence queue_stage_part_part_seq minvalue 0 maxvalue 2047 cycle;
comment on sequence queue_stage_part_part_seq is 'Tells apart the parts that are begun in the same microsecond; internal to queue_stage_begin.';
-- What somebody has staged, to be published by queue_stage_publish: one row a writer that has committed. Unlogged
-- because a crash of the server that loses it loses nothing that was published, and queue_stage_publish refuses a part
-- that isn't there.
create unlogged table queue_stage_part (
    part     bigint not null,
    job      text collate "C" not null,
    query    text collate "C",
    batch    bigint,
    run      text collate "C",
    begun_at bigint not null,
    constraint queue_stage_part_pkey primary key (part)             -- serves: queue_stage_publish
);
-- serves: queue_stage_abort
create index queue_stage_part_job on queue_stage_part (job);
-- serves: queue_stage_begin
create index queue_stage_part_run on queue_stage_part (query, run);
-- serves: queue_prune
create index queue_stage_part_batch on queue_stage_part (query, batch);
-- serves: queue_prune
create index queue_stage_part_begun on queue_stage_part (begun_at);
comment on table queue_stage_part is 'Parts of jobs that are staged and not yet published; those older than a day are pruned. (pyqueue_sql)';
comment on column queue_stage_part.run is 'The run of the query that staged it; what an earlier run has left nobody can publish any more.';
