-- written by hand: the change of the tables
-- What somebody has staged, to be published by queue_stage_publish: one row a writer that has committed. Unlogged because a
-- crash of the server that loses it loses nothing that was published, and queue_stage_publish refuses a part that isn't there.
create unlogged table queue_stage_part (
    part     bigint generated always as identity,
    job      text collate "C" not null,
    begun_at bigint not null,
    constraint queue_stage_part_pkey primary key (part)             -- serves: queue_stage_publish
);
--;
-- serves: queue_stage_abort
create index queue_stage_part_job on queue_stage_part (job);
--;
-- serves: queue_prune
create index queue_stage_part_begun on queue_stage_part (begun_at);
--;
comment on table queue_stage_part is 'Parts of jobs that are staged and not yet published; those older than a day are pruned.';
--;
-- Messages that are staged, as plain rows like those of queue_inbox, until queue_stage_publish pushes them. No check here: a
-- row that is wrong names itself when it is published.
create unlogged table queue_stage (
    part          bigint not null,
    p_kind        text collate "C",
    p_key         text collate "C",
    payload       text,
    payload_bytes bytea,
    headers       text,
    priority      integer,
    delay_seconds numeric,
    scheduled_at  bigint,
    attempts      integer,
    max_attempts  integer
);
--;
-- serves: queue_stage_publish, queue_stage_abort
create index queue_stage_of_part on queue_stage (part);
--;
comment on table queue_stage is 'INSERT or COPY messages into it under a part of queue_stage_begin; the other columns are those of queue_inbox. They are no messages until queue_stage_publish has pushed them.';
--;
-- Without a primary key a table of a publication refuses to be deleted from.
alter table queue_stage replica identity full;
--;
-- The last batch of each query that was published or committed, so that a batch which is replayed changes nothing.
create table queue_stage_done (
    query   text collate "C" not null,
    batch   bigint not null,
    done_at bigint not null,
    constraint queue_stage_done_pkey primary key (query)            -- serves: queue_stage_publish, queue_stream_commit
);
--;
-- serves: queue_prune
create index queue_stage_done_at on queue_stage_done (done_at);
--;
comment on table queue_stage_done is 'The last batch of each query that is done; a row goes when nothing came for a year.';
--;
-- What each part of a batch has reserved, so that a task that runs again gets the same messages, and one call ends them all.
create table queue_stream_part (
    stream   text collate "C" not null,
    batch    bigint not null,
    part     integer not null,
    receipts jsonb not null,
    begun_at bigint not null,
    constraint queue_stream_part_pkey primary key (stream, batch, part) -- serves: queue_stream_reserve, queue_stream_commit
);
--;
-- serves: queue_prune
create index queue_stream_part_begun on queue_stream_part (begun_at);
--;
comment on table queue_stream_part is 'Receipts of batches that are not yet committed, by part; those older than a week are pruned.';
