-- What each part of a read was handed out, so that a task that runs again gets the same messages, a batch that is
-- replayed has what it had, and one call ends them all.
create table queue_stream_part (
    source   text collate "C" not null,
    part     integer not null,
    stream   text collate "C" not null,
    batch    bigint not null,
    wanted   integer not null,
    handed   integer not null default 0,
    receipts jsonb not null default '[]',
    begun_at bigint not null,
    constraint queue_stream_part_pkey primary key (source, part)    -- serves: queue_stream_reserve, queue_stream_plan
);
-- serves: queue_stream_commit
create index queue_stream_part_batch on queue_stream_part (stream, batch);
-- serves: queue_prune
create index queue_stream_part_begun on queue_stream_part (begun_at);
comment on table queue_stream_part is 'Receipts of batches that are not yet committed, by part; those older than a week are pruned. (pyqueue_sql)';
comment on column queue_stream_part.source is 'The read whose part it is: of two sources of one query each has its own.';
comment on column queue_stream_part.handed is 'How many messages it was handed out at first, whatever became of them since.';
