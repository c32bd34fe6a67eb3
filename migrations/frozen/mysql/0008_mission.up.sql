-- written by hand: the change of the tables
-- semaphores
alter table delayed_queue
    add column semaphores longtext
        comment 'The semaphores that it needs a slot of to be delivered; NULL: none.',
    algorithm = instant;
--;
alter table queue_kind
    add column semaphores boolean not null default false,
    algorithm = instant;
--;
-- Semaphores: how many messages that name one may be held at once. Its row is locked while that changes.
-- differs: it isn't written then: a locking read sees what is committed, whatever the snapshot.
create table if not exists queue_semaphore (
    name                   varchar(100) not null,
    capacity               bigint not null,
    primary key (name) -- serves: queue_push, queue_reserve, queue_ack
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Semaphores; look at them through the view queue_semaphores, change them through queue_semaphore.';
--;
-- The slots that are taken: by a message that is held, until its hold ends, or by one that stands in the ready line and was told
-- that there is room (until is the time of that, negated).
create table if not exists queue_semaphore_slot (
    entry                  bigint not null,
    name                   varchar(100) not null,
    until                  bigint,
    primary key (entry, name), -- serves: queue_ack, queue_extend
    key queue_semaphore_slot_name (name, until) -- serves: queue_reserve (how many are taken, whose hold has expired)
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Slots of semaphores that are taken; internal.';
--;
-- Who waits: each stands in the line of one semaphore that it lacks.
create table if not exists queue_semaphore_wait (
    entry                  bigint not null,
    name                   varchar(100) not null,
    p_kind                 varchar(100) not null,
    primary key (entry), -- serves: queue_ack, queue_push
    key queue_semaphore_wait_name (name, entry), -- serves: queue_ack (who is next)
    key queue_semaphore_wait_kind (p_kind, name, entry) -- serves: queue_reserve (what waits in a kind), queue_peek
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Messages in line for a semaphore; internal.';
