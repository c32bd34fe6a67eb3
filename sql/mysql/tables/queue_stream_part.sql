-- What each part of a batch has reserved, so that a task that runs again gets the same messages, and one call ends them all.
create table if not exists queue_stream_part (
    stream                 varchar(200) not null,
    batch                  bigint not null,
    part                   int not null,
    receipts               json,
    begun_at               bigint not null,
    primary key (stream, batch, part), -- serves: queue_stream_reserve, queue_stream_commit
    key queue_stream_part_begun (begun_at) -- serves: queue_prune
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Receipts of batches that are not yet committed, by part; those older than a week are pruned.';
