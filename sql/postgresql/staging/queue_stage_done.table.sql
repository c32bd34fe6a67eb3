-- The last batch of each query that was published or committed, so that a batch which is replayed changes nothing.
create table queue_stage_done (
    query   text collate "C" not null,
    batch   bigint not null,
    run     text collate "C",
    job     text collate "C",
    done_at bigint not null,
    constraint queue_stage_done_pkey primary key (query)            -- serves: queue_stage_publish, queue_stream_commit
);
-- serves: queue_prune
create index queue_stage_done_at on queue_stage_done (done_at);
comment on table queue_stage_done is 'The last batch of each query that is done; a row goes when nothing came for a year. (pyqueue_sql)';
comment on column queue_stage_done.job is 'The write that did it, where it said so: a second one in the same run is an error and no replay.';
