-- written by hand: the change of the tables
-- What somebody has staged, to be published by queue_stage_publish: one row a writer that has committed.
create table if not exists queue_stage_part (
    part                   bigint not null,
    job                    varchar(200) not null,
    begun_at               bigint not null,
    primary key (part), -- serves: queue_stage_publish
    key queue_stage_part_job (job), -- serves: queue_stage_abort
    key queue_stage_part_begun (begun_at) -- serves: queue_prune
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Parts of jobs that are staged and not yet published; those older than a day are pruned.';
--;
-- Messages that are staged, as plain rows like those of queue_inbox, until queue_stage_publish pushes them. No check here: a
-- row that is wrong names itself when it is published.
-- differs: a row has a number, so that what is sorted by key to be pushed is small.
create table if not exists queue_stage (
    id                     bigint not null auto_increment,
    part                   bigint not null,
    p_kind                 varchar(300),
    p_key                  varchar(300),
    payload                longtext,
    payload_bytes          longblob,
    headers                longtext,
    priority               int,
    delay_seconds          decimal(30,6),
    scheduled_at           bigint,
    attempts               int,
    max_attempts           int,
    primary key (id),
    key queue_stage_of_part (part) -- serves: queue_stage_publish, queue_stage_abort
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'INSERT or LOAD DATA messages into it under a part of queue_stage_begin; the other columns are those of queue_inbox. They are no messages until queue_stage_publish has pushed them.';
--;
-- The last batch of each query that was published or committed, so that a batch which is replayed changes nothing.
create table if not exists queue_stage_done (
    query                  varchar(200) not null,
    batch                  bigint not null,
    done_at                bigint not null,
    primary key (query), -- serves: queue_stage_publish, queue_stream_commit
    key queue_stage_done_at (done_at) -- serves: queue_prune
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'The last batch of each query that is done; a row goes when nothing came for a year.';
--;
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
