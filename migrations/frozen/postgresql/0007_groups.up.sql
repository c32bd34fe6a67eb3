-- written by hand: the change of the tables
alter table delayed_queue
    add column route jsonb,
    add column member bigint;
--;
comment on column delayed_queue.route is 'The kinds that it goes to yet, one with each ack; NULL: the next ack ends it.';
--;
comment on column delayed_queue.member is 'Its number as a member of a group; NULL: of none.';
--;
alter table queue_history
    add column result jsonb;
--;
comment on column queue_history.result is 'What its ack gave as its result.';
--;
-- Groups: what is pushed once all of their members are done. Nothing here is updated by every call.
create table queue_group (
    group_name    text collate "C" constraint queue_group_pkey primary key,  -- serves: queue_group, queue_push
    then_kind     text collate "C" not null,
    then_payload  jsonb not null,
    then_key      text collate "C" not null,
    then_priority smallint not null,
    then_delay    bigint not null,
    on_dead       text collate "C" not null,
    fail_kind     text collate "C",
    expected      bigint,
    closed        boolean not null,
    keep_seconds  numeric not null,
    created_at    bigint not null,
    finished_at   bigint,
    failed        boolean not null default false,
    forget_at     bigint,
    checked_at    bigint not null default 0,
    checked_to    bigint not null default 0
);
--;
-- serves: queue_prune (what is past its time)
create index queue_group_forget on queue_group (forget_at) where forget_at is not null;
--;
-- serves: queue_prune (members whose message has gone)
create index queue_group_checked on queue_group (checked_at) where finished_at is null;
--;
comment on table queue_group is 'Groups, and what follows them; look at it through the view queue_groups.';
--;
-- Whoever ends a member locks the slot of it, one of 32, until its transaction ends. So the last one of a slot sees that it is,
-- and only those look at the group as a whole.
create table queue_group_slot (
    group_name text collate "C" not null,
    slot       smallint not null,
    constraint queue_group_slot_pkey primary key (group_name, slot)  -- serves: queue_ack
);
--;
comment on table queue_group_slot is 'What is locked while members of a group end; internal.';
--;
-- The members of groups, each for as long as its group is remembered. A member is numbered as the entry that it was pushed as.
create table queue_group_member (
    member     bigint constraint queue_group_member_pkey primary key,  -- serves: queue_ack, queue_move
    group_name text collate "C" not null,
    slot       smallint not null,
    p_kind     text collate "C" not null,
    p_key      text collate "C" not null,
    entry      bigint not null,
    done_at    bigint,
    outcome    text collate "C",
    result     jsonb,
    error      text
);
--;
-- serves: queue_ack (whether one is the last)
create index queue_group_member_open on queue_group_member (group_name, slot) where done_at is null;
--;
-- serves: queue_groups, and the results of a group
create index queue_group_member_group on queue_group_member (group_name, member);
--;
comment on table queue_group_member is 'Members of groups; look at it through the view queue_groups.';
