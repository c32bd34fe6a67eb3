-- calls: _queue_permits_lacking, _queue_permits_lock, _queue_permits_note
-- changes: delayed_queue, queue_semaphore_permit
create procedure _queue_extend_with_permits(in in_list longtext, in in_seconds double, in in_now bigint,
    inout out_outcomes longtext character set ascii)
    comment 'Extends the holds of messages that name semaphores. One whose hold has expired, and whose permits were
given to others, is extended where there is room again, and otherwise not; its ack still counts.
in_list: a JSON array of arrays: an entry, locked already, and its place among the receipts. in_seconds: see
queue_extend. in_now: the time of the call.
out_outcomes: a letter a receipt, of which those that were extended become e.
Locks: the semaphores of which one has no permit any more.
differs: PostgreSQL''s is given the receipts, taken apart.'
begin
    declare v_until bigint default in_now + cast(round(in_seconds * 1000000) as signed);
    declare v_entry bigint;
    declare v_place int;
    declare v_missing, v_names, v_all, v_locked longtext;
    declare v_lacks varchar(100) collate exact;
    declare v_held, v_needs boolean;
    declare c cursor for
        select q.entry, j.place, q.semaphores, q.reserved_by is not null, q.source_kind is null and in_seconds > 0
        from unnest(in_list) j (entry bigint, place int)
            straight_join delayed_queue q force index (primary) on q.entry = j.entry
        order by j.entry for update of q;
    declare continue handler for not found begin end;
    select json_arrayagg(m.name) into v_all
    from json_table(in_list, '$[*]' columns (entry bigint path '$[0]')) j
        straight_join delayed_queue q force index (primary) on q.entry = j.entry and q.source_kind is null
        straight_join unnest(q.semaphores) m (name varchar(100) collate exact)
        left join queue_semaphore_permit h force index (primary) on h.entry = q.entry and h.name = m.name
    where h.entry is null and in_seconds > 0;
    if v_all is not null then
        call _queue_permits_lock(v_all, true, v_locked);
    end if;
    for each c into v_entry, v_place, v_names, v_held, v_needs do
        set v_lacks = null, v_missing = null;
        if v_needs then
            select json_arrayagg(m.name) into v_missing from unnest(v_names) m (name varchar(100) collate exact)
                left join queue_semaphore_permit h force index (primary) on h.entry = v_entry and h.name = m.name
            where h.entry is null for update of h;
        end if;
        if v_missing is not null then
            call _queue_permits_lacking(v_missing, null, false, in_now, v_lacks);
        end if;
        if v_held and v_lacks is null then
            update delayed_queue q set q.scheduled_at = v_until where q.entry = v_entry;
            update queue_semaphore_permit h set h.until = v_until where h.entry = v_entry;
            insert into queue_semaphore_permit (entry, name, until)
            select v_entry, s.name, v_until from unnest(coalesce(v_missing, '[]')) j (name varchar(100) collate exact)
                straight_join queue_semaphore s force index (primary) on s.name = j.name;
            set out_outcomes = insert(out_outcomes, v_place, 1, 'e');
            call _queue_permits_note(v_entry, if(in_seconds = 0, v_names, null));
        end if;
    end each;
end;
