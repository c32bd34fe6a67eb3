-- The permits that are taken: by a message that is held, until its hold ends, or by one that stands in the ready line
-- and was told that there is room (until is the time of that, negated).
create table if not exists queue_semaphore_permit (
    entry                  bigint not null,
    name                   varchar(100) not null,
    until                  bigint,
    primary key (entry, name), -- serves: queue_ack, queue_extend
    key queue_semaphore_permit_name (name, until) -- serves: queue_reserve (how many are taken, whose hold has expired)
) engine = innodb row_format = dynamic collate exact
    comment 'Permits of semaphores that are taken; internal. (pyqueue_sql)';
