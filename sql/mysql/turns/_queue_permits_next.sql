-- calls: _queue_permits_lacking, _queue_permits_room
-- changes: delayed_queue, queue_semaphore_permit, queue_semaphore_wait
create procedure _queue_permits_next(in in_name varchar(100) collate exact, in in_kind varchar(100) collate exact,
    in in_max bigint, in in_now bigint, out out_woken bigint)
    comment 'Wakes who is next in the line of a semaphore: those that lack nothing else, the oldest first. One that
lacks another goes to the line of that, 100 at the most; the others stay where they are.
in_name: the semaphore, locked already. in_kind: only what waits in this kind, which somebody asks for, past whoever was
told that there is room a second ago or longer; NULL: any kind, as many as there is room for. in_max: how many at the
most. in_now: the time of the call.
Result: how many went to the ready line, where they stand last of their priority.
Locks: these messages, and their other semaphores; what others have locked stays as it is.
differs: the result is out_woken.'
begin
    declare v_room, v_next, v_entry, v_found, v_there bigint;
    declare v_last bigint default -1;
    declare v_looks int default 100;
    declare v_waits boolean;
    declare v_names longtext;
    declare v_lacks varchar(100) collate exact;
    declare continue handler for not found begin end;
    set out_woken = 0;
    call _queue_permits_room(in_name, in_kind is null, in_now, v_room);
    set v_room = coalesce(v_room, 9223372036854775807);
    line: while v_room > 0 and out_woken < in_max and v_looks > 0 do
        set v_entry = null, v_found = null, v_next = null;
        if in_kind is null then
            select min(w.entry) into v_next from queue_semaphore_wait w force index (queue_semaphore_wait_name)
            where w.name = in_name and w.entry > v_last;
        else
            select min(w.entry) into v_next from queue_semaphore_wait w force index (queue_semaphore_wait_kind)
            where w.p_kind = in_kind and w.name = in_name and w.entry > v_last;
        end if;
        select w.entry into v_entry from queue_semaphore_wait w
        where w.entry = v_next and w.name = in_name for update skip locked;
        -- another has that, or an old snapshot another line; not by a range, whose end locks the first of the next line
        if v_entry is null and in_kind is null then
            select w.entry into v_entry from queue_semaphore_wait w force index (queue_semaphore_wait_name)
            where w.name = in_name and w.entry + 0 > v_last order by w.entry limit 1 for update skip locked;
        elseif v_entry is null then
            select w.entry into v_entry from queue_semaphore_wait w force index (queue_semaphore_wait_kind)
            where w.p_kind = in_kind and w.name = in_name and w.entry + 0 > v_last
                order by w.entry limit 1 for update skip locked;
        end if;
        if v_entry is null then
            leave line;
        end if;
        set v_last = v_entry, v_looks = v_looks - 1, v_there = 1;
        select q.entry, q.semaphores, q.ready_at is null and q.due_at is null
            and q.reserved_at is null into v_found, v_names, v_waits
        from delayed_queue q where q.entry = v_entry for update skip locked;
        if v_found is null and @pyqueue_own then -- an old snapshot may not have it yet
            select count(*) into v_there from delayed_queue q where q.entry = v_entry;
        end if;
        if v_found is null and v_there = 0 or v_found is not null and not v_waits then
            delete w from queue_semaphore_wait w where w.entry = v_entry;
        elseif v_found is not null then
            call _queue_permits_lacking(v_names, in_name, in_kind is null, in_now, v_lacks);
            if v_lacks is null then
                update delayed_queue q set q.ready_rank = -q.priority, q.ready_at = in_now where q.entry = v_entry;
                delete w from queue_semaphore_wait w where w.entry = v_entry;
                insert into queue_semaphore_permit (entry, name, until)
                select v_entry, s.name, -in_now from unnest(v_names) j (name varchar(100) collate exact)
                    straight_join queue_semaphore s force index (primary) on s.name = j.name
                on duplicate key update until = -in_now;
                set v_room = v_room - 1, v_looks = v_looks + 1, out_woken = out_woken + 1;
            elseif v_lacks <> '' then
                update queue_semaphore_wait w set w.name = v_lacks where w.entry = v_entry;
            end if;
        end if;
    end while;
end;
