-- calls: _queue_fail
-- changes: queue_group_member
create procedure _queue_enrol(in in_list longtext)
    comment 'Makes messages members of groups.
in_list: a JSON array of arrays, see _queue_log_entries: the entry of a message, just put in, its event, and its group,
or null for none.
Errors: PQ002 for a group that isn''t there, PQ004 for one that has finished.
Locks: the groups, shared, in the order of their names: they can''t finish before the transaction ends. Waits for one
that is finishing.
differs: one list in place of two arrays; the last 8 bits of an entry are the server''s id.'
begin
    declare v_name, v_found varchar(100) collate exact;
    declare v_finished_at bigint;
    declare c cursor for
        select distinct j.name from unnest(in_list) j (entry bigint, event varchar(20), name varchar(100) collate exact)
        where j.name is not null order by j.name;
    declare continue handler for not found begin end;
    for each c into v_name do
        set v_found = null;
        select g.group_name, g.finished_at into v_found, v_finished_at from queue_group g
            where g.group_name = v_name lock in share mode;
        if v_found is null then
            call _queue_fail('PQ002', 'group', v_name, 'must be there: queue_group makes it');
        elseif v_finished_at is not null then
            call _queue_fail('PQ004', 'group', v_name, 'takes in nothing, it has finished');
        end if;
    end each;
    insert into queue_group_member (member, group_name, stripe, p_kind, p_key, entry)
    select q.entry, j.name, (q.entry >> 8) mod 32, q.p_kind, q.p_key, q.entry
    from unnest(in_list) j (entry bigint, event varchar(20), name varchar(100) collate exact)
        straight_join delayed_queue q force index (primary) on q.entry = j.entry
    where j.name is not null;
    update unnest(in_list) j (entry bigint, event varchar(20), name varchar(100) collate exact)
        straight_join delayed_queue q force index (primary) on q.entry = j.entry
    set q.member = q.entry
    where j.name is not null;
end;
