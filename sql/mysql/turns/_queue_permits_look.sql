-- calls: _queue_permits_next
create procedure _queue_permits_look(in in_kind varchar(100) collate exact, in in_max bigint, in in_now bigint,
    out out_woken bigint)
    comment 'Looks whether there is room by now for what waits in a kind, though nobody said so: a hold has expired, or
whoever was told that there is room, a second ago or longer, isn''t taken. What a reserve does that finds too little
ready.
in_kind: the kind. in_max: how many are wanted. in_now: the time of the call.
Result: how many went to the ready line; of 100 semaphores at the most.
Locks: these semaphores and as _queue_permits_next; what others have locked is left.
differs: the result is out_woken.'
begin
    declare v_name varchar(100) collate exact default '';
    declare v_found varchar(100) collate exact;
    declare v_woken, v_held, v_capacity bigint;
    declare v_looks int default 100;
    declare continue handler for not found begin end;
    set out_woken = 0;
    names: while v_looks > 0 and out_woken < in_max do
        select min(w.name) into v_name from queue_semaphore_wait w force index (queue_semaphore_wait_kind)
        where w.p_kind = in_kind and w.name > v_name;
        if v_name is null then
            leave names;
        end if;
        set v_looks = v_looks - 1, v_found = null, v_capacity = null;
        select s.capacity into v_capacity from queue_semaphore s where s.name = v_name;
        select count(*) into v_held from queue_semaphore_permit h force index (queue_semaphore_permit_name)
        where h.name = v_name and (h.until > in_now or abs(h.until + in_now) < 1000000);
        if v_capacity is null or v_held < v_capacity then
            select s.name into v_found from queue_semaphore s where s.name = v_name for update skip locked;
            if v_found is not null or v_capacity is null then
                set @pyqueue_permit_held = true;
                call _queue_permits_next(v_name, in_kind, in_max - out_woken, in_now, v_woken);
                set out_woken = out_woken + v_woken;
            end if;
        end if;
    end while;
end;
