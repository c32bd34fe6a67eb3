-- changes: queue_group_member
create procedure _queue_members_end(in in_members longtext, in in_outcome varchar(10), in in_result longtext,
    in in_now bigint)
    comment 'Members of groups are done. They are noted for _queue_members_settle, so that a call locks the stripes of
all that it ends before it locks a group.
in_members: the members; those that are done already stay as they are. in_outcome: acked, duplicate, dead, gone.
in_result: of each of them, NULL: none. in_now: the time of the call.
Locks: none that others want, since who ends a member has its message.
differs: in_members is a JSON array.'
begin
    update unnest(in_members) j (member bigint)
        straight_join queue_group_member m force index (primary) on m.member = j.member and m.done_at is null
    set m.done_at = in_now, m.outcome = in_outcome, m.result = in_result,
        m.error = if(in_outcome = 'dead', m.error, null);
    if row_count() > 0 then
        set @pyqueue_members = json_merge_preserve(convert(coalesce(@pyqueue_members, '[]') using utf8mb4), in_members);
    end if;
end;
