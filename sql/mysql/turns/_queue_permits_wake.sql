-- changes: delayed_queue, queue_semaphore_permit, queue_semaphore_wait
create procedure _queue_permits_wake(in in_names longtext, in in_locked longtext, in in_now bigint,
    out out_lines longtext, out out_done boolean)
    comment 'Wakes who is next in the lines of some semaphores, all in a few statements, where none of them lacks
another, no hold has expired and what is read is what is newest. A line is looked at for as many as there is room for.
in_names: the semaphores, a JSON array. in_locked: those that are locked; others are left, but for those that aren''t
there. in_now: the time of the call.
out_lines: those in whose lines somebody waits, in the caller''s transaction all, a JSON array; NULL: none. out_done:
false: it is left to _queue_permits_next, and nobody was woken.
Locks: the messages; what others have locked stays as it is.
differs: PostgreSQL''s wakes as many in one line as it is told that there is room for.'
begin
    declare v_found, v_next, v_picked longtext;
    declare v_name varchar(100) collate exact;
    declare v_room bigint;
    declare v_place, v_odd int default 0;
    select json_arrayagg(l.name), json_arrayagg(json_array(l.name, l.room)),
        coalesce(sum(l.room is null or l.expired), 0) into out_lines, v_found, v_odd
    from (
        select j.name, s.capacity - (
                select count(*) from queue_semaphore_permit h force index (queue_semaphore_permit_name)
                    where h.name = s.name) as room,
            (select 1 from queue_semaphore_permit e force index (queue_semaphore_permit_name)
                where e.name = s.name and e.until between 0 and in_now limit 1) is not null as expired
        from (
            select distinct n.name from unnest(in_names) n (name varchar(100) collate exact) limit 1000000000) j
            left join queue_semaphore s force index (primary) on s.name = j.name
        where (s.name is null or json_contains(in_locked, json_quote(j.name)))
            and (not @pyqueue_own or (select 1 from queue_semaphore_wait w
                force index (queue_semaphore_wait_name) where w.name = j.name limit 1) is not null)
        limit 1000000000) l;
    set out_done = @pyqueue_own and v_odd = 0, v_picked = '[]';
    while out_done and v_place < json_length(v_found) do
        set v_name = json_unquote(json_extract(v_found, concat('$[', v_place, '][0]'))),
            v_room = json_extract(v_found, concat('$[', v_place, '][1]')), v_place = v_place + 1, v_next = null;
        if v_room > 0 then
            select json_arrayagg(json_array(p.entry, p.name)), coalesce(sum(p.odd), 0) into v_next, v_odd
            from (
                select q.entry, w.name,
                    json_length(q.semaphores) > 1 or q.ready_at is not null or q.due_at is not null
                    or q.reserved_at is not null as odd
                from queue_semaphore_wait w force index (queue_semaphore_wait_name)
                    straight_join delayed_queue q force index (primary) on q.entry = w.entry
                where w.name = v_name order by w.entry limit v_room for update skip locked) p;
            set out_done = v_odd = 0, v_picked = json_merge_preserve(v_picked, coalesce(v_next, '[]'));
        end if;
    end while;
    if out_done and json_length(v_picked) > 0 then
        update json_table(v_picked, '$[*]' columns (entry bigint path '$[0]')) j
            straight_join delayed_queue q force index (primary) on q.entry = j.entry
        set q.ready_rank = -q.priority, q.ready_at = in_now;
        delete w from json_table(v_picked, '$[*]' columns (entry bigint path '$[0]')) j
            straight_join queue_semaphore_wait w force index (primary) on w.entry = j.entry;
        insert into queue_semaphore_permit (entry, name, until)
        select j.entry, j.name, -in_now
        from unnest(v_picked) j (entry bigint, name varchar(100) collate exact)
        on duplicate key update until = -in_now;
    end if;
end;
