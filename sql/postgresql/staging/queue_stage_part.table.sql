-- Not the table's own, which would be unlogged with it from PostgreSQL 15 on, and begin anew after a crash: a writer
-- that lives on would publish what another has staged since under its number.
create sequence queue_stage_part_part_seq;
comment on sequence queue_stage_part_part_seq is 'The last part that was begun; internal to queue_stage_begin.';
-- What somebody has staged, to be published by queue_stage_publish: one row a writer that has committed. Unlogged
-- because a crash of the server that loses it loses nothing that was published, and queue_stage_publish refuses a part
-- that isn't there.
create unlogged table queue_stage_part (
    part     bigint not null default nextval('queue_stage_part_part_seq'),
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
