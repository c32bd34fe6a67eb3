-- What each part of a read was handed out, so that a task that runs again gets the same messages, a batch that is
-- replayed has what it had, and one call ends them all.
create table if not exists queue_stream_part (
    source                 varchar(230) not null,
    part                   int not null,
    stream                 varchar(200) not null,
    batch                  bigint not null,
    wanted                 int not null,
    handed                 int not null default 0,
    receipts               json,
    begun_at               bigint not null,
    primary key (source, part), -- serves: queue_stream_reserve, queue_stream_plan
    key queue_stream_part_batch (stream, batch), -- serves: queue_stream_commit
    key queue_stream_part_begun (begun_at) -- serves: queue_prune
) engine = innodb row_format = dynamic collate exact
    comment 'Receipts of batches that are not yet committed, by part; those older than a week are pruned. (pyqueue_sql)';
