-- Whoever ends a member locks the stripe of it, one of 32, until its transaction ends. So the last one of a stripe sees
-- that it is, and only those look at the group as a whole. They stay until the group is forgotten: whoever finishes
-- a group has it locked, and others wait for that with a stripe of it in hand.
create table queue_group_stripe (
    group_name text collate "C" not null,
    stripe       smallint not null,
    constraint queue_group_stripe_pkey primary key (group_name, stripe)  -- serves: queue_ack
);
comment on table queue_group_stripe is 'What is locked while members of a group end; internal. (pyqueue_sql)';
