-- Who reads the log, what, and up to where it is done; looked: up to where there is none of its events behind that.
create table if not exists queue_reader (
    reader                 varchar(200) not null,
    name                   varchar(255) not null,
    matcher                varchar(3000),
    events                 varchar(100) not null,
    position               bigint not null,
    looked                 bigint not null default 0,
    created_at             bigint not null,
    primary key (reader) -- serves: queue_read, queue_read_ack
) engine = innodb row_format = dynamic collate exact
    comment 'Readers of the log; look at it through the view queue_readers. (pyqueue_sql)';
