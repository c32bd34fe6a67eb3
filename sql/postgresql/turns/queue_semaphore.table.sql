-- Semaphores: how many messages that name one may be held at once. Its row is locked while that changes, and written,
-- so that an old snapshot can't miss it.
create table queue_semaphore (
    name     text collate "C" constraint queue_semaphore_pkey primary key,  -- serves: queue_push, queue_reserve, queue_ack
    capacity bigint not null,
    lowered  boolean not null default false
) with (fillfactor = 50);
comment on table queue_semaphore is 'Semaphores; look at them through the view queue_semaphores, change them through queue_semaphore. (pyqueue_sql)';
comment on column queue_semaphore.lowered is 'The capacity was lowered: what is given back is counted.';
