-- calls: _queue_wake
-- changes: queue_group_due
create or replace function _queue_group_note(in_group text) returns void language plpgsql as $$
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        insert into queue_group_due (group_name, writer) values (in_group, pg_current_xact_id()::text::bigint)
        on conflict on constraint queue_group_due_pkey do nothing;
        perform _queue_wake(g.then_kind, null) from queue_group g where g.group_name = in_group;
    end if;
end $$;

comment on function _queue_group_note(text) is
$$Notes that a group has to be looked at once this transaction has ended, where its snapshot can't see who else has
ended a member, or closed the group: see _queue_groups_due.
in_group: the group.
Locks: none.$$;
