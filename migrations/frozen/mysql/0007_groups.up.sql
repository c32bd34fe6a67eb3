-- written by hand: the change of the tables
alter table delayed_queue
    add column route longtext
        comment 'The kinds that it goes to yet, one with each ack; NULL: the next ack ends it.',
    add column member bigint
        comment 'Its number as a member of a group; NULL: of none.',
    algorithm = instant;
--;
alter table queue_history
    add column result longtext
        comment 'What its ack gave as its result.',
    algorithm = instant;
--;
-- Groups: what is pushed once all of their members are done. Nothing here is updated by every call.
create table if not exists queue_group (
    group_name             varchar(100) not null,
    then_kind              varchar(100) not null,
    then_payload           json not null,
    then_key               varchar(200) not null,
    then_priority          smallint not null,
    then_delay             bigint not null,
    on_dead                varchar(10) not null,
    fail_kind              varchar(100),
    expected               bigint,
    closed                 boolean not null,
    keep_seconds           decimal(20,6) not null,
    created_at             bigint not null,
    finished_at            bigint,
    failed                 boolean not null default false,
    forget_at              bigint,
    checked_at             bigint not null default 0,
    checked_to             bigint not null default 0,
    primary key (group_name), -- serves: queue_group, queue_push
    key queue_group_forget (forget_at), -- serves: queue_prune (what is past its time)
    key queue_group_checked (finished_at, checked_at) -- serves: queue_prune (members whose message has gone)
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Groups, and what follows them; look at it through the view queue_groups.';
--;
-- Whoever ends a member locks the slot of it, one of 32, until its transaction ends. So the last one of a slot sees that it is,
-- and only those look at the group as a whole.
create table if not exists queue_group_slot (
    group_name             varchar(100) not null,
    slot                   smallint not null,
    primary key (group_name, slot) -- serves: queue_ack
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'What is locked while members of a group end; internal.';
--;
-- The members of groups, each for as long as its group is remembered. A member is numbered as the entry that it was pushed as.
create table if not exists queue_group_member (
    member                 bigint not null,
    group_name             varchar(100) not null,
    slot                   smallint not null,
    p_kind                 varchar(100) not null,
    p_key                  varchar(200) not null,
    entry                  bigint not null,
    done_at                bigint,
    outcome                varchar(10),
    result                 longtext,
    error                  longtext,
    primary key (member), -- serves: queue_ack, queue_move
    key queue_group_member_open (group_name, slot, done_at), -- serves: queue_ack (whether one is the last)
    key queue_group_member_group (group_name, member) -- serves: queue_groups, and the results of a group
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Members of groups; look at it through the view queue_groups.';
