-- Positions up to which all was known to be committed or undone, for those who can't find it out themselves: a snapshot
-- that has this row has all of that too. Appended, and folded.
create table if not exists queue_log_known (
    position               bigint not null,
    id                     bigint not null,
    noted_at               bigint not null,
    primary key (position, id) -- serves: queue_read
) engine = innodb row_format = dynamic collate exact
    comment 'How far the log is complete; internal. (pyqueue_sql)';
