-- Who waits: each stands in the line of one semaphore that it lacks.
create table if not exists queue_semaphore_wait (
    entry                  bigint not null,
    name                   varchar(100) not null,
    p_kind                 varchar(100) not null,
    primary key (entry), -- serves: queue_ack, queue_push
    key queue_semaphore_wait_name (name, entry), -- serves: queue_ack (who is next)
    key queue_semaphore_wait_kind (p_kind, name, entry) -- serves: queue_reserve (what waits in a kind), queue_peek
) engine = innodb row_format = dynamic collate exact
    comment 'Messages in line for a semaphore; internal. (pyqueue_sql)';
