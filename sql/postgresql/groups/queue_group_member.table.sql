-- The members of groups, each for as long as its group is remembered. A member is numbered as the entry that it was
-- pushed as.
create table queue_group_member (
    member     bigint constraint queue_group_member_pkey primary key,  -- serves: queue_ack, queue_move
    group_name text collate "C" not null,
    stripe       smallint not null,
    p_kind     text collate "C" not null,
    p_key      text collate "C" not null,
    entry      bigint not null,
    done_at    bigint,
    outcome    text collate "C",
    result     jsonb,
    error      text
);
-- serves: queue_ack (whether one is the last)
create index queue_group_member_open on queue_group_member (group_name, stripe) where done_at is null;
-- serves: queue_groups, and the results of a group
create index queue_group_member_group on queue_group_member (group_name, member);
comment on table queue_group_member is 'Members of groups; look at it through the view queue_groups. (pyqueue_sql)';
