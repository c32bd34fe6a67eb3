-- What came of each batch that was published, so that it can be seen afterwards.
create table if not exists queue_write (
    id                     bigint not null auto_increment,
    query                  varchar(200),
    batch                  bigint,
    job                    varchar(200),
    written_at             bigint not null,
    messages               bigint not null,
    pushed                 bigint not null,
    differing              bigint,
    refused                bigint not null,
    primary key (id),
    key queue_write_at (written_at) -- serves: queue_prune
) engine = innodb row_format = dynamic collate exact
    comment 'What came of batches that were published; a row goes after a week. The view queue_writes shows it. (pyqueue_sql)';
