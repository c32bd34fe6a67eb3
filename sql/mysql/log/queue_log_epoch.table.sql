-- What transactions that append to the log hold a shared lock of, until they end: of the newest row that they see. All
-- of their positions come after its floor. The first one comes with the first kind that has a log, and stays.
-- differs: PostgreSQL has advisory locks for it.
create table if not exists queue_log_epoch (
    floor                  bigint not null,
    id                     bigint not null,
    primary key (floor, id) -- serves: queue_push, queue_read
) engine = innodb row_format = dynamic collate exact
    comment 'Up to where open transactions have not appended to the log; internal. (pyqueue_sql)';
