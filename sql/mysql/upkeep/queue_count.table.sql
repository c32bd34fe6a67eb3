-- What happened so far, by kind: every call appends a row and queue_prune folds them, because one row that all calls
-- update would serialise them. It is read whole.
-- differs: what was pushed and reserved comes here when a message ends; until then it is read off the message, so that
-- neither a push nor a reserve writes a second row.
-- differs: the number, UUID_SHORT(), is there because group replication wants a primary key.
create table if not exists queue_count (
    id                     bigint unsigned not null,
    p_kind                 varchar(100) not null,
    pushed                 bigint,
    reserved               bigint,
    popped                 bigint,
    acked                  bigint,
    nacked                 bigint,
    moved                  bigint,
    dead                   bigint,
    expired                bigint,
    lost                   bigint,
    primary key (id)
) engine = innodb row_format = dynamic collate exact
    comment 'Counters, appended by the routines and folded by queue_prune; read them through queue_stats. (pyqueue_sql)';
