-- changes: delayed_queue, queue_semaphore_permit, queue_semaphore_wait
create procedure _queue_permits_hand_over(in in_entry bigint, in in_name varchar(100) collate exact, in in_now bigint,
    out out_done boolean)
    comment 'Gives the permit of a message that has gone to who is next in the line of its one semaphore. The number of
permits that are taken stays, so it is enough to share the lock of the semaphore, and who gives a permit on doesn''t
wait for others that do.
in_entry: the message. in_name: the semaphore. in_now: the time of the call.
out_done: false where that is not enough: it is still there, or has no permit, nobody waits, or who is next lacks
another, or the capacity was lowered: then _queue_permits_settle does it.
Locks: the semaphore, shared, where nobody has it alone; the permit, and the next message; what others have locked is
passed over.
differs: on PostgreSQL it is a part of _queue_permits_settle, for any number of messages.'
hand: begin
    declare v_there, v_permit, v_last, v_next bigint;
    declare v_looks int default 20;
    declare v_names longtext character set utf8mb4;
    declare v_waits, v_lowered boolean;
    declare continue handler for not found begin end;
    set out_done = false;
    select q.entry into v_there from delayed_queue q where q.entry = in_entry;
    select w.entry into v_next from queue_semaphore_wait w force index (queue_semaphore_wait_name)
    where w.name = in_name order by w.entry limit 1;
    select q.semaphores into v_names from delayed_queue q where q.entry = v_next;
    if v_there is not null or v_next is null or json_length(v_names) > 1 then
        leave hand;
    end if;
    -- who counts the permits has it alone
    select s.lowered into v_lowered from queue_semaphore s
    where s.name = in_name /*!80000 for share of s skip locked *//*M!100600 lock in share mode skip locked */;
    if not v_lowered then
        select h.entry into v_permit from queue_semaphore_permit h
            where h.entry = in_entry and h.name = in_name for update;
    end if;
    while v_permit is not null and v_next is not null and v_looks > 0 and not out_done do
        set v_looks = v_looks - 1, v_names = null, v_waits = false;
        select q.semaphores, q.ready_at is null and q.due_at is null and q.reserved_at is null into v_names, v_waits
        from delayed_queue q where q.entry = v_next for update skip locked;
        if v_waits and json_length(v_names) > 1 then
            leave hand;
        elseif v_waits then
            update delayed_queue q set q.ready_rank = -q.priority, q.ready_at = in_now where q.entry = v_next;
            delete w from queue_semaphore_wait w where w.entry = v_next;
            insert into queue_semaphore_permit (entry, name, until) values (v_next, in_name, -in_now)
                on duplicate key update until = -in_now;
            delete h from queue_semaphore_permit h where h.entry = in_entry and h.name = in_name;
            set out_done = true;
        else
            set v_last = v_next, v_next = null;
            select w.entry into v_next from queue_semaphore_wait w force index (queue_semaphore_wait_name)
            where w.name = in_name and w.entry > v_last order by w.entry limit 1;
        end if;
    end while;
end;
