-- calls: _queue_group_check, _queue_group_note, queue_now
-- changes: queue_group_stripe
create procedure _queue_members_settle()
    comment 'The members that this call has ended, all of them: the last one of a group has it finish. After it a call
ends no message and puts in no key, but that of a continuation; semaphores come next.
A snapshot that can''t see who else ends one leaves a note, see _queue_group_note.
Locks: their stripes, in order, until the transaction ends: of two that end at the same moment the second one sees the
first. Then as _queue_group_check, in the order of the groups'' names.
differs: it reads the clock itself, as _queue_permits_end does, and _queue_commit calls it, or who has to sooner.'
begin
    declare v_now bigint;
    declare v_name varchar(100) collate exact;
    declare v_members longtext default @pyqueue_members;
    declare v_stripes longtext;
    declare c cursor for
        select distinct d.group_name
        from (
            select m.group_name, m.stripe, max(m.outcome = 'dead') as dead
            from unnest(v_members) j (member bigint)
                straight_join queue_group_member m force index (primary) on m.member = j.member
            group by m.group_name, m.stripe) d
        where d.dead or (
            select o.member from queue_group_member o force index (queue_group_member_open)
            where o.group_name = d.group_name and o.stripe = d.stripe and o.done_at is null limit 1) is null
        order by d.group_name;
    declare n cursor for
        select distinct m.group_name
        from unnest(v_members) j (member bigint)
            straight_join queue_group_member m force index (primary) on m.member = j.member
        where not @pyqueue_own;
    set @pyqueue_members = null;
    call queue_now(v_now);
    select json_arrayagg(json_array(d.stripe, d.group_name)) into v_stripes
    from (
        select distinct m.stripe, m.group_name
        from unnest(v_members) j (member bigint)
            straight_join queue_group_member m force index (primary) on m.member = j.member
        order by m.stripe, m.group_name limit 1000000000) d;
    -- written to, because another node of a cluster doesn't see what is only locked
    update unnest(coalesce(v_stripes, '[]')) j (stripe smallint, group_name varchar(100) collate exact)
        straight_join queue_group_stripe s force index (primary) on s.group_name = j.group_name and s.stripe = j.stripe
    set s.turn = s.turn + 1;
    for each n into v_name do
        call _queue_group_note(v_name);
    end each;
    for each c into v_name do
        call _queue_group_check(v_name, v_now);
    end each;
end;
