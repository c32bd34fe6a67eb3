-- The last batch of each query that was published or committed, so that a batch which is replayed changes nothing.
create table queue_stage_done (
    query   text collate "C" not null,
    batch   bigint not null,
    done_at bigint not null,
    constraint queue_stage_done_pkey primary key (query)            -- serves: queue_stage_publish, queue_stream_commit
);
-- serves: queue_prune
create index queue_stage_done_at on queue_stage_done (done_at);
comment on table queue_stage_done is 'The last batch of each query that is done; a row goes when nothing came for a year.';
