-- Whoever ends a member locks the slot of it, one of 32, until its transaction ends. So the last one of a slot sees
-- that it is, and only those look at the group as a whole.
create table queue_group_slot (
    group_name text collate "C" not null,
    slot       smallint not null,
    constraint queue_group_slot_pkey primary key (group_name, slot)  -- serves: queue_ack
);
comment on table queue_group_slot is 'What is locked while members of a group end; internal. (pyqueue_sql)';
