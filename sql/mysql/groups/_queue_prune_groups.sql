-- calls: _queue_group_check, _queue_members_end, _queue_members_settle
-- changes: queue_group, queue_group_member, queue_group_stripe
create procedure _queue_prune_groups(in in_now bigint, in in_max bigint, out out_pruned bigint)
    comment 'Forgets groups that have finished and are past their keep_seconds. Of the others it ends members whose
message has gone without an ack, and finishes those where nobody saw that all is done: those first that it has not
looked at for longest.
in_now: the time of the call. in_max: how many rows to look at, of each sort.
Result: how many were forgotten.
Locks: as _queue_members_settle. Then the groups that are forgotten; what others have locked is left.
differs: the result is out_pruned.'
begin
    declare v_name, v_locked varchar(100) collate exact;
    declare v_from, v_rows, v_last, v_open bigint;
    declare v_left bigint default in_max;
    declare v_some longtext;
    declare v_gone longtext default '[]';
    declare v_looked longtext default '[]';
    declare v_past cursor for
        select g.group_name from queue_group g force index (queue_group_forget)
        where g.forget_at <= in_now order by g.forget_at limit in_max;
    declare v_open_ones cursor for
        select g.group_name, g.checked_to from queue_group g force index (queue_group_checked)
        where g.finished_at is null order by g.checked_at limit in_max;
    declare v_looked_at cursor for
        select n.group_name, n.place
        from unnest(v_looked) n (group_name varchar(100) collate exact, place bigint);
    declare continue handler for not found begin end;
    set out_pruned = 0;
    names: for each v_open_ones into v_name, v_from do
        if v_left <= 0 then
            leave names;
        end if;
        set v_some = null;
        select count(*), max(o.member) into v_rows, v_last
        from (select m.member from queue_group_member m force index (queue_group_member_group)
            where m.group_name = v_name and m.member > v_from order by m.member limit v_left) o;
        select json_arrayagg(m.member) into v_some
        from queue_group_member m force index (queue_group_member_group)
            left join delayed_queue q force index (primary) on q.entry = m.entry
        where m.group_name = v_name and m.member > v_from and m.member <= v_last and m.done_at is null
            and q.entry is null;
        set v_gone = json_merge_preserve(v_gone, coalesce(v_some, '[]')),
            v_looked = json_array_append(v_looked, '$', json_array(v_name, if(v_rows < v_left, 0, v_last) + 0)),
            v_left = v_left - greatest(v_rows, 1);
    end each;
    -- of all groups at once, before one is locked: a stripe that is waited for may be of who wants that next
    select json_arrayagg(l.member) into v_gone -- another prune may have found the same
    from (
        select m.member from unnest(v_gone) j (member bigint)
            straight_join queue_group_member m force index (primary) on m.member = j.member
        limit 1000000000 for update of m skip locked) l;
    if v_gone is not null then
        call _queue_members_end(v_gone, 'gone', null, in_now);
    end if;
    if @pyqueue_members is not null then
        call _queue_members_settle();
    end if;
    for each v_looked_at into v_name, v_last do
        select count(*) into v_open from (
            select 1 from queue_group_member m force index (queue_group_member_open)
            where m.group_name = v_name and m.done_at is null limit 1) o;
        set v_locked = null;
        select g.group_name into v_locked from queue_group g where g.group_name = v_name for update skip locked;
        if v_locked is not null then
            if v_open = 0 then
                call _queue_group_check(v_name, in_now);
            end if;
            update queue_group g set g.checked_at = in_now, g.checked_to = v_last where g.group_name = v_name;
        end if;
    end each;
    -- last, because who waits for one of their stripes may have others
    past: for each v_past into v_name do
        if out_pruned >= in_max then
            leave past;
        end if;
        set v_locked = null, v_gone = null, v_left = in_max - out_pruned;
        select g.group_name into v_locked from queue_group g where g.group_name = v_name for update skip locked;
        -- who ends a member late, of a group that has failed, wants the group next
        select count(*) into v_open from (
            select s.stripe from queue_group_stripe s where s.group_name = v_locked for update skip locked) l;
        select if(count(*) > v_open, null, v_locked) into v_locked
        from queue_group_stripe s where s.group_name = v_locked;
        if v_locked is not null then
            select json_arrayagg(o.member), count(*) into v_gone, v_rows
            from (select m.member from queue_group_member m force index (queue_group_member_group)
                where m.group_name = v_name limit v_left for update skip locked) o;
            delete m from unnest(coalesce(v_gone, '[]')) j (member bigint)
                straight_join queue_group_member m force index (primary) on m.member = j.member;
            set out_pruned = out_pruned + v_rows;
            if v_rows < v_left then -- all that nobody has locked
                select count(*) into v_open from queue_group_member m force index (queue_group_member_group)
                where m.group_name = v_name;
                if v_open = 0 then
                    delete s from queue_group_stripe s where s.group_name = v_name;
                    delete g from queue_group g where g.group_name = v_name;
                    set out_pruned = out_pruned + 1;
                end if;
            end if;
        end if;
    end each;
end;
