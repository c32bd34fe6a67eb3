-- What came of each batch that was published, so that it can be seen afterwards.
create table queue_write (
    id         bigint generated always as identity,
    query      text collate "C",
    batch      bigint,
    job        text collate "C",
    written_at bigint not null,
    messages   bigint not null,
    pushed     bigint not null,
    differing  bigint,
    refused    bigint not null,
    constraint queue_write_pkey primary key (written_at, id)         -- serves: queue_prune
);
comment on table queue_write is 'What came of batches that were published; a row goes after a week. The view queue_writes shows it. (pyqueue_sql)';
