-- Whoever ends a member locks the stripe of it, one of 32, until its transaction ends. So the last one of a stripe sees
-- that it is, and only those look at the group as a whole. They stay until the group is forgotten: whoever finishes
-- a group has it locked, and others wait for that with a stripe of it in hand.
-- differs: turn is written to, so that nodes of a Galera cluster exclude one another: they don't see locks.
create table if not exists queue_group_stripe (
    group_name             varchar(100) not null,
    stripe                   smallint not null,
    turn                   bigint not null default 0
        comment 'Counted up, so that it is not only locked but written to.',
    primary key (group_name, stripe) -- serves: queue_ack
) engine = innodb row_format = dynamic collate exact
    comment 'What is locked while members of a group end; internal. (pyqueue_sql)';
