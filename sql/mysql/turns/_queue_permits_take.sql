-- calls: _queue_members_settle, _queue_permits_lacking, _queue_permits_lock, _queue_permits_settle
-- changes: delayed_queue, queue_semaphore_permit, queue_semaphore_wait
create procedure _queue_permits_take(in in_entries longtext, in in_kind varchar(100) collate exact, in in_until bigint,
    in in_first boolean, in in_now bigint, out out_entries longtext, out out_number int, out out_expired int,
    out out_passed longtext)
    comment 'Of messages that were taken from the ready line, those that can be delivered, each with a permit of all of
its semaphores; one that lacks any goes to wait in line, with none.
in_entries: a JSON array of their entries, in the order of delivery, locked already. in_kind: their kind. in_until: when
the holds end. in_first: whether the call has locked no semaphore before. in_now: the time of the call.
out_entries: those that can be delivered, a JSON array; NULL: none. out_number: how many. out_expired: how many expired
holds went to wait.
out_passed: those that are left as they are, and that to take more finds again, a JSON array.
Locks: the permits where all were promised before; else the semaphores, in the order of their names; where it isn''t the
first time, what others have locked is left.
differs: what can''t be delivered for other reasons is left to _queue_end_undeliverable. PostgreSQL looks at lowered
before that: who gives a permit on shares the lock of the semaphore here, and locks nothing there.'
permits: begin
    declare v_entry bigint;
    declare v_names, v_all, v_locked, v_left longtext;
    declare v_lacks varchar(100) collate exact;
    declare v_held boolean default false;
    declare v_wants int;
    declare c cursor for
        select q.entry, if(q.source_kind is null, q.semaphores, null), q.reserved_at is not null
        from messages(in_entries) with ordinality q
        order by j.place for update of q; -- locked already; an old snapshot may not have it
    declare continue handler for not found begin end;
    if in_first and @pyqueue_permit_names is null then
        -- all that are promised: nothing is given or freed, so no semaphore needs to be locked; who wants a permit that
        -- was promised takes the promise back, see _queue_permits_room
        select coalesce(sum(json_length(q.semaphores)), 0) into v_wants
        from messages(in_entries) q where q.source_kind is null for update of q; -- an old snapshot may not have them
        update messages(in_entries) q
            straight_join queue_semaphore_permit h force index (primary) on h.entry = q.entry and h.until < 0
        set h.until = in_until
        where q.source_kind is null;
        if row_count() = v_wants then
            set out_entries = in_entries, out_number = json_length(in_entries), out_expired = 0, out_passed = '[]';
            leave permits;
        end if;
    end if;
    set out_entries = null, out_number = 0, out_expired = 0, out_passed = '[]',
        v_all = coalesce(@pyqueue_permit_names, '[]'), v_left = coalesce(@pyqueue_permit_entries, '[]'),
        @pyqueue_permit_names = null, @pyqueue_permit_entries = null;
    for each c into v_entry, v_names, v_held do
        set v_all = json_merge_preserve(v_all, coalesce(v_names, '[]'));
    end each;
    if json_length(v_all) > 0 then
        if @pyqueue_members is not null then -- of what was ended; from now on nothing is
            call _queue_members_settle();
        end if;
        call _queue_permits_lock(v_all, in_first, v_locked);
        delete h from unnest(in_entries) j (entry bigint)
            straight_join unnest(v_locked) n (name varchar(100) collate exact)
            straight_join queue_semaphore_permit h force index (primary) on h.entry = j.entry and h.name = n.name;
    end if;
    for each c into v_entry, v_names, v_held do
        set v_lacks = null;
        if v_names is not null then
            call _queue_permits_lacking(v_names, null, false, in_now, v_lacks);
        end if;
        if v_lacks is null then
            insert into queue_semaphore_permit (entry, name, until)
            select v_entry, s.name, in_until from unnest(coalesce(v_names, '[]')) j (name varchar(100) collate exact)
                straight_join queue_semaphore s force index (primary) on s.name = j.name;
            set out_entries = json_array_append(coalesce(out_entries, '[]'), '$', v_entry + 0),
                out_number = out_number + 1;
        elseif v_lacks = '' then
            set out_passed = json_array_append(out_passed, '$', v_entry + 0);
        else
            update delayed_queue q set q.ready_rank = null, q.ready_at = null, q.reserved_at = null,
                q.reserved_by = null where q.entry = v_entry;
            insert into queue_semaphore_wait (entry, name, p_kind) values (v_entry, v_lacks, in_kind)
                on duplicate key update name = v_lacks;
            set v_left = json_array_append(v_left, '$', v_entry + 0), out_expired = out_expired + v_held;
        end if;
    end each;
    if json_length(v_left) > 0 then
        call _queue_permits_settle(v_left, v_all, false, in_now);
    end if;
end;
