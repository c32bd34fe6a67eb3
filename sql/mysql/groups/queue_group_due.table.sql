-- Groups to be looked at: a transaction with a snapshot of its own can't see who else ends a member, so it leaves a
-- note, and whoever comes next with a newer snapshot looks whether all is done.
-- differs: a transaction has no number that all may read, so the writer is the session, and id tells its notes from one
-- another.
create table if not exists queue_group_due (
    group_name             varchar(100) not null,
    writer                 bigint not null,
    id                     bigint not null,
    primary key (group_name, writer) -- serves: queue_reserve, queue_wait, queue_heartbeat
) engine = innodb row_format = dynamic collate exact
    comment 'Groups of which all may be done; writer is the session that says so. Internal. (pyqueue_sql)';
