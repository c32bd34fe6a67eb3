-- What somebody has staged, to be published by queue_stage_publish: one row a writer that has committed.
create table if not exists queue_stage_part (
    part                   bigint not null,
    job                    varchar(200) not null,
    query                  varchar(200),
    batch                  bigint,
    run                    varchar(200),
    begun_at               bigint not null,
    primary key (part), -- serves: queue_stage_publish
    key queue_stage_part_job (job), -- serves: queue_stage_abort
    key queue_stage_part_run (query, run), -- serves: queue_stage_begin
    key queue_stage_part_batch (query, batch), -- serves: queue_prune
    key queue_stage_part_begun (begun_at) -- serves: queue_prune
) engine = innodb row_format = dynamic collate exact
    comment 'Parts of jobs that are staged and not yet published; those older than a day are pruned. (pyqueue_sql)';
