create procedure _queue_permits_lock(in in_names longtext, in in_wait boolean, out out_locked longtext)
    comment 'Locks semaphores: who has locked one takes its free permits, and nobody else. The last that a call locks,
so that whoever waits for one keeps nobody waiting that has it.
in_names: the semaphores. in_wait: false: what others have locked is left out, which is for who has locked some already.
Result: the names of those that are there and locked.
Locks: these rows, in the order of their names.
differs: the result is out_locked, a JSON array; @pyqueue_permit_held says until the call ends that some are locked.'
begin
    declare v_all longtext default in_names;
    declare v_more longtext;
    if in_wait then
        -- with those of who may be next, because to lock them later would be out of order
        select json_arrayagg(m.name) into v_more
        from ( -- one look each: of a range both servers read the whole line, and MySQL sorts it
            select (select w.entry from queue_semaphore_wait w force index (queue_semaphore_wait_name)
                where w.name = j.name order by w.name, w.entry limit 0, 1) as entry
            from unnest(in_names) j (name varchar(100) collate exact)
            union all select (select w.entry from queue_semaphore_wait w force index (queue_semaphore_wait_name)
                where w.name = j.name order by w.name, w.entry limit 1, 1)
            from unnest(in_names) j (name varchar(100) collate exact)
            union all select (select w.entry from queue_semaphore_wait w force index (queue_semaphore_wait_name)
                where w.name = j.name order by w.name, w.entry limit 2, 1)
            from unnest(in_names) j (name varchar(100) collate exact)) l
            straight_join delayed_queue q force index (primary) on q.entry = l.entry and json_length(q.semaphores) > 1
            straight_join unnest(q.semaphores) m (name varchar(100) collate exact);
        set v_all = json_merge_preserve(in_names, coalesce(v_more, '[]'));
        select json_arrayagg(l.name) into out_locked
        from (
            select s.name
            from (
                select distinct n.name from unnest(v_all) n (name varchar(100) collate exact) limit 1000000000) j
                straight_join queue_semaphore s force index (primary) on s.name = j.name
            order by j.name limit 1000000000 for update of s) l;
    else
        select json_arrayagg(l.name) into out_locked
        from (
            select s.name
            from (
                select distinct n.name from unnest(v_all) n (name varchar(100) collate exact) limit 1000000000) j
                straight_join queue_semaphore s force index (primary) on s.name = j.name
            order by j.name limit 1000000000 for update of s skip locked) l;
    end if;
    if out_locked is not null then
        set @pyqueue_permit_held = true;
    end if;
    set out_locked = coalesce(out_locked, '[]');
end;
