-- The members of groups, each for as long as its group is remembered. A member is numbered as the entry that it was
-- pushed as.
create table if not exists queue_group_member (
    member                 bigint not null,
    group_name             varchar(100) not null,
    stripe                   smallint not null,
    p_kind                 varchar(100) not null,
    p_key                  varchar(200) not null,
    entry                  bigint not null,
    done_at                bigint,
    outcome                varchar(10),
    result                 longtext,
    error                  longtext,
    primary key (member), -- serves: queue_ack, queue_move
    key queue_group_member_open (group_name, stripe, done_at), -- serves: queue_ack (whether one is the last)
    key queue_group_member_group (group_name, member) -- serves: queue_groups, and the results of a group
) engine = innodb row_format = dynamic collate exact
    comment 'Members of groups; look at it through the view queue_groups. (pyqueue_sql)';
