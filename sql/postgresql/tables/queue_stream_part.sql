-- What each part of a batch has reserved, so that a task that runs again gets the same messages, and one call ends them all.
create table queue_stream_part (
    stream   text collate "C" not null,
    batch    bigint not null,
    part     integer not null,
    receipts jsonb not null,
    begun_at bigint not null,
    constraint queue_stream_part_pkey primary key (stream, batch, part) -- serves: queue_stream_reserve, queue_stream_commit
);
-- serves: queue_prune
create index queue_stream_part_begun on queue_stream_part (begun_at);
comment on table queue_stream_part is 'Receipts of batches that are not yet committed, by part; those older than a week are pruned.';
