-- written by hand: the change of the tables
-- semaphores
alter table delayed_queue
    add column semaphores text[] collate "C";
--;
comment on column delayed_queue.semaphores is 'The semaphores that it needs a slot of to be delivered, in order; NULL: none.';
--;
alter table queue_kind
    add column semaphores boolean not null default false;
--;
-- Semaphores: how many messages that name one may be held at once. Its row is locked while that changes, and written, so that an
-- old snapshot can't miss it.
create table queue_semaphore (
    name     text collate "C" constraint queue_semaphore_pkey primary key,  -- serves: queue_push, queue_reserve, queue_ack
    capacity bigint not null
) with (fillfactor = 50);
--;
comment on table queue_semaphore is 'Semaphores; look at them through the view queue_semaphores, change them through queue_semaphore.';
--;
-- The slots that are taken: by a message that is held, until its hold ends, or by one that stands in the ready line and was told
-- that there is room (until is the time of that, negated).
create table queue_semaphore_slot (
    entry bigint not null,
    name  text collate "C" not null,
    until bigint,
    constraint queue_semaphore_slot_pkey primary key (entry, name)  -- serves: queue_ack, queue_extend
);
--;
-- serves: queue_reserve (how many are taken, whose hold has expired)
create index queue_semaphore_slot_name on queue_semaphore_slot (name, until);
--;
comment on table queue_semaphore_slot is 'Slots of semaphores that are taken; internal.';
--;
-- Who waits: each stands in the line of one semaphore that it lacks.
create table queue_semaphore_wait (
    entry  bigint constraint queue_semaphore_wait_pkey primary key,  -- serves: queue_ack, queue_push
    name   text collate "C" not null,
    p_kind text collate "C" not null
);
--;
-- serves: queue_ack (who is next)
create index queue_semaphore_wait_name on queue_semaphore_wait (name, entry);
--;
-- serves: queue_reserve (what waits in a kind), queue_peek
create index queue_semaphore_wait_kind on queue_semaphore_wait (p_kind, name, entry);
--;
comment on table queue_semaphore_wait is 'Messages in line for a semaphore; internal.';
