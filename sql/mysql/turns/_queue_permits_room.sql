-- changes: queue_semaphore, queue_semaphore_permit
create procedure _queue_permits_room(in in_name varchar(100) collate exact, in in_all boolean, in in_now bigint,
    out out_room bigint)
    comment 'How many permits of a semaphore are free; those of holds that have expired, or whose message has gone, are
freed, 100 at the most.
in_name: the semaphore, locked already. in_all: whether all those count that were told that there is room, and that
nobody holds yet; false: in the last second, or the next one where the clock was set back, where there is no room
otherwise.
in_now: the time of the call.
Result: the number, which may be negative; NULL where there is no such semaphore: then it keeps nobody waiting.
Locks: the messages whose holds have expired; what others have locked is left.
differs: the result is out_room.'
begin
    declare v_entry, v_found, v_held, v_taken bigint;
    declare v_old longtext;
    declare v_lowered boolean;
    declare c cursor for
        select h.entry from queue_semaphore_permit h force index (queue_semaphore_permit_name)
        where h.name = in_name and h.until between 0 and in_now order by h.until limit 100;
    declare continue handler for not found begin end;
    for each c into v_entry do
        set v_found = null, v_held = null;
        select q.entry, if(q.reserved_at is null, 0, q.scheduled_at) into v_found, v_held
        from delayed_queue q where q.entry = v_entry for update skip locked;
        if v_found is null then -- locked, or gone
            select max(q.entry), 0 into v_found, v_held from delayed_queue q where q.entry = v_entry;
            set v_found = if(v_found is null, v_entry, null);
        end if;
        if v_held > in_now then
            update queue_semaphore_permit h set h.until = v_held where h.entry = v_entry and h.name = in_name;
        elseif v_found is not null then
            delete h from queue_semaphore_permit h where h.entry = v_entry and h.name = in_name;
        end if;
    end each;
    if @pyqueue_own then
        select count(*) into v_taken from queue_semaphore_permit h force index (queue_semaphore_permit_name)
            where h.name = in_name;
    else -- whose snapshot may be old
        select count(*) into v_taken from queue_semaphore_permit h force index (queue_semaphore_permit_name)
        where h.name = in_name lock in share mode;
    end if;
    set out_room = null;
    select s.capacity - v_taken, s.lowered into out_room, v_lowered from queue_semaphore s
    where s.name = in_name for update;
    if v_lowered and out_room >= 0 then
        update queue_semaphore s set s.lowered = false where s.name = in_name;
    end if;
    if out_room <= 0 and not in_all then
        -- taken back, not passed over: who takes such a message by its promise does so without the lock of the
        -- semaphore
        select json_arrayagg(l.entry) into v_old
        from (
            select h.entry from queue_semaphore_permit h force index (queue_semaphore_permit_name)
            where h.name = in_name and h.until + 0 < 0 and abs(h.until + in_now) >= 1000000
            limit 100 for update skip locked) l;
        if v_old is not null then
            delete h from unnest(v_old) j (entry bigint)
                straight_join queue_semaphore_permit h force index (primary) on h.entry = j.entry and h.name = in_name;
            set out_room = out_room + json_length(v_old);
        end if;
    end if;
end;
