-- Whoever ends a member locks the slot of it, one of 32, until its transaction ends. So the last one of a slot sees
-- that it is, and only those look at the group as a whole.
-- differs: turn is written to, so that nodes of a Galera cluster exclude one another: they don't see locks.
create table if not exists queue_group_slot (
    group_name             varchar(100) not null,
    slot                   smallint not null,
    turn                   bigint not null default 0
        comment 'Counted up, so that it is not only locked but written to.',
    primary key (group_name, slot) -- serves: queue_ack
) engine = innodb collate exact
    comment 'What is locked while members of a group end; internal. (pyqueue_sql)';
