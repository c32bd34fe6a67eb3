-- calls: _queue_group_check, _queue_group_note
-- changes: queue_group_member, queue_group_stripe
create procedure _queue_members_end(in in_members longtext, in in_outcome varchar(10), in in_result longtext,
    in in_now bigint)
    comment 'Members of groups are done; the last one of a group has it finish.
in_members: the members; those that are done already stay as they are. in_outcome: acked, duplicate, dead, gone.
in_result: of each of them, NULL: none. in_now: the time of the call.
A snapshot that can''t see who else ends one leaves a note, see _queue_group_note.
Locks: their stripes, in order, until the transaction ends: of two that end at the same moment the second one sees the
first. Then as _queue_group_check, in the order of the groups'' names.
differs: in_members is a JSON array.'
begin
    declare v_name varchar(100) collate exact;
    declare v_stripes longtext;
    declare c cursor for
        select distinct d.group_name
        from (
            select distinct m.group_name, m.stripe
            from unnest(in_members) j (member bigint)
                straight_join queue_group_member m force index (primary) on m.member = j.member) d
        where in_outcome = 'dead' or (
            select o.member from queue_group_member o force index (queue_group_member_open)
            where o.group_name = d.group_name and o.stripe = d.stripe and o.done_at is null limit 1) is null
        order by d.group_name;
    declare n cursor for
        select distinct m.group_name
        from unnest(in_members) j (member bigint)
            straight_join queue_group_member m force index (primary) on m.member = j.member
        where not @pyqueue_own;
    select json_arrayagg(json_array(d.stripe, d.group_name)) into v_stripes
    from (
        select distinct m.stripe, m.group_name
        from unnest(in_members) j (member bigint)
            straight_join queue_group_member m force index (primary) on m.member = j.member and m.done_at is null
        order by m.stripe, m.group_name limit 1000000000) d;
    -- written to, because another node of a cluster doesn't see what is only locked
    update unnest(coalesce(v_stripes, '[]')) j (stripe smallint, group_name varchar(100) collate exact)
        straight_join queue_group_stripe s force index (primary) on s.group_name = j.group_name and s.stripe = j.stripe
    set s.turn = s.turn + 1;
    update unnest(in_members) j (member bigint)
        straight_join queue_group_member m force index (primary) on m.member = j.member and m.done_at is null
    set m.done_at = in_now, m.outcome = in_outcome, m.result = in_result,
        m.error = if(in_outcome = 'dead', m.error, null);
    for each n into v_name do
        call _queue_group_note(v_name);
    end each;
    for each c into v_name do
        call _queue_group_check(v_name, in_now);
    end each;
end;
