-- Semaphores: how many messages that name one may be held at once. Its row is locked while that changes.
-- differs: it isn't written then: a locking read sees what is committed, whatever the snapshot.
create table if not exists queue_semaphore (
    name                   varchar(100) not null,
    capacity               bigint not null,
    lowered                boolean not null default false
        comment 'The capacity was lowered: what is given back is counted.',
    primary key (name) -- serves: queue_push, queue_reserve, queue_ack
) engine = innodb row_format = dynamic collate exact
    comment 'Semaphores; look at them through the view queue_semaphores, change them through queue_semaphore. (pyqueue_sql)';
