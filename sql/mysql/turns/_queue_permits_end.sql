-- calls: _queue_permits_settle, queue_now
-- changes: delayed_queue, queue_semaphore_permit, queue_semaphore_wait
create procedure _queue_permits_end()
    comment 'The end of a call that has noted messages with semaphores: frees their permits and wakes who is next.
The permit of one message that has gone is given to who is next in the line of its one semaphore. The number of permits
that are taken stays, so it is enough to share the lock of the semaphore, and who gives a permit on doesn''t wait for
others that do. _queue_permits_settle does all else: where the message is still there, or has no permit, nobody waits,
or who is next lacks another, or the capacity was lowered.
Locks: of one message the semaphore, shared, where nobody has it alone; the permit, and the next message; what others
have locked is passed over. Else those of _queue_permits_settle.
differs: see _queue_permits_note; on PostgreSQL it is a part of _queue_permits_settle, for any number of messages.'
begin
    declare v_now bigint;
    declare v_done boolean default false;
    declare v_entries longtext default @pyqueue_permit_entries;
    declare v_names longtext default @pyqueue_permit_names;
    set @pyqueue_permit_entries = null, @pyqueue_permit_names = null;
    call queue_now(v_now);
    hand: begin
        declare v_entry, v_there, v_permit, v_last, v_next bigint;
        declare v_name varchar(100) collate exact;
        declare v_wants longtext;
        declare v_looks int default 20;
        declare v_waits, v_lowered boolean;
        declare continue handler for not found begin end;
        if (@pyqueue_own and @pyqueue_permit_held is null and json_length(v_entries) = 1
            and json_length(v_names) = 1) is not true then
            leave hand;
        end if;
        set v_entry = json_extract(v_entries, '$[0]'), v_name = json_unquote(json_extract(v_names, '$[0]'));
        select q.entry into v_there from delayed_queue q where q.entry = v_entry;
        select w.entry into v_next from queue_semaphore_wait w force index (queue_semaphore_wait_name)
        where w.name = v_name order by w.entry limit 1;
        select q.semaphores into v_wants from delayed_queue q where q.entry = v_next;
        if v_there is not null or v_next is null or json_length(v_wants) > 1 then
            leave hand;
        end if;
        -- who counts the permits has it alone
        select s.lowered into v_lowered from queue_semaphore s
        where s.name = v_name /*!80000 for share of s skip locked *//*M!100600 lock in share mode skip locked */;
        if not v_lowered then
            select h.entry into v_permit from queue_semaphore_permit h
                where h.entry = v_entry and h.name = v_name for update;
        end if;
        while v_permit is not null and v_next is not null and v_looks > 0 and not v_done do
            set v_looks = v_looks - 1, v_wants = null, v_waits = false;
            select q.semaphores, q.ready_at is null and q.due_at is null and q.reserved_at is null into v_wants, v_waits
            from delayed_queue q where q.entry = v_next for update skip locked;
            if v_waits and json_length(v_wants) > 1 then
                leave hand;
            elseif v_waits then
                update delayed_queue q set q.ready_rank = -q.priority, q.ready_at = v_now where q.entry = v_next;
                delete w from queue_semaphore_wait w where w.entry = v_next;
                insert into queue_semaphore_permit (entry, name, until) values (v_next, v_name, -v_now)
                    on duplicate key update until = -v_now;
                delete h from queue_semaphore_permit h where h.entry = v_entry and h.name = v_name;
                set v_done = true;
            else
                set v_last = v_next, v_next = null;
                select w.entry into v_next from queue_semaphore_wait w force index (queue_semaphore_wait_name)
                where w.name = v_name and w.entry > v_last order by w.entry limit 1;
            end if;
        end while;
    end;
    if not v_done then
        call _queue_permits_settle(v_entries, v_names, @pyqueue_permit_held is null, v_now);
    end if;
    set @pyqueue_permit_held = null;
end;
