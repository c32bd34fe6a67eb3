-- The permits that are taken: by a message that is held, until its hold ends, or by one that stands in the ready line
-- and was told that there is room (until is the time of that, negated).
create table queue_semaphore_permit (
    entry bigint not null,
    name  text collate "C" not null,
    until bigint,
    constraint queue_semaphore_permit_pkey primary key (entry, name)  -- serves: queue_ack, queue_extend
);
-- serves: queue_reserve (how many are taken, whose hold has expired)
create index queue_semaphore_permit_name on queue_semaphore_permit (name, until);
comment on table queue_semaphore_permit is 'Permits of semaphores that are taken; internal. (pyqueue_sql)';
