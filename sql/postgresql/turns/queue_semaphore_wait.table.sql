-- Who waits: each stands in the line of one semaphore that it lacks.
create table queue_semaphore_wait (
    entry  bigint constraint queue_semaphore_wait_pkey primary key,  -- serves: queue_ack, queue_push
    name   text collate "C" not null,
    p_kind text collate "C" not null
);
-- serves: queue_ack (who is next)
create index queue_semaphore_wait_name on queue_semaphore_wait (name, entry);
-- serves: queue_reserve (what waits in a kind), queue_peek
create index queue_semaphore_wait_kind on queue_semaphore_wait (p_kind, name, entry);
comment on table queue_semaphore_wait is 'Messages in line for a semaphore; internal. (pyqueue_sql)';
