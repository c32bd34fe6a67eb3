-- changes: queue_group_due
create procedure _queue_group_note(in in_group varchar(100) collate exact)
    comment 'Notes that a group has to be looked at once this transaction has ended, where its snapshot can''t see who
else has ended a member, or closed the group: see _queue_groups_due.
in_group: the group.
Locks: none.
differs: in each transaction of the caller''s, whose level nobody can read.'
begin
    if not @pyqueue_own then
        insert into queue_group_due (group_name, writer, id) values (in_group, connection_id(), uuid_short())
        on duplicate key update id = uuid_short();
    end if;
end;
