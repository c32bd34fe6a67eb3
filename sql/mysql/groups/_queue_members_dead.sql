-- calls: _queue_members_end
-- changes: queue_group_member
create procedure _queue_members_dead(in in_member bigint, in in_letter bigint,
    in in_error longtext character set utf8mb4, in in_now bigint)
    comment 'A member of a group has died: what that means for a group is its option on_dead.
in_member, in_letter: the member, and the entry of its dead letter. in_error: why. in_now: the time of the call.
Locks: as _queue_members_end.
differs: one member, as _queue_bury.'
begin
    declare v_ends int;
    update queue_group_member m set m.entry = in_letter, m.error = in_error
        where m.member = in_member and m.done_at is null;
    select count(*) into v_ends from queue_group_member m join queue_group g on g.group_name = m.group_name
    where m.member = in_member and m.done_at is null and g.on_dead <> 'wait';
    if v_ends > 0 then
        call _queue_members_end(json_array(in_member + 0), 'dead', null, in_now);
    end if;
end;
