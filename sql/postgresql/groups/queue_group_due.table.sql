-- Groups to be looked at: a transaction with a snapshot of its own can't see who else ends a member, so it leaves a
-- note, and whoever comes next with a newer snapshot looks whether all is done.
create table queue_group_due (
    group_name text collate "C" not null,
    writer     bigint not null,
    constraint queue_group_due_pkey primary key (group_name, writer)  -- serves: queue_reserve, queue_wait, queue_heartbeat
);
comment on table queue_group_due is 'Groups of which all may be done; writer is the transaction that says so. Internal. (pyqueue_sql)';
