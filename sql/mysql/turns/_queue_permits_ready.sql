create procedure _queue_permits_ready(in in_kind varchar(100) collate exact, in in_now bigint, out out_ready boolean)
    comment 'Whether there may be room for what waits in a kind for semaphores; nothing is locked.
in_kind: the kind. in_now: the time of the call.
out_ready: that; of 100 semaphores at the most.
differs: there is no next time to tell.'
begin
    declare v_name varchar(100) collate exact default '';
    declare v_held bigint;
    declare v_looks int default 100;
    set out_ready = false;
    names: while v_looks > 0 and not out_ready do
        select min(w.name) into v_name from queue_semaphore_wait w force index (queue_semaphore_wait_kind)
        where w.p_kind = in_kind and w.name > v_name;
        if v_name is null then
            leave names;
        end if;
        set v_looks = v_looks - 1;
        select count(*) into v_held from queue_semaphore_permit h force index (queue_semaphore_permit_name)
        where h.name = v_name and (h.until > in_now or abs(h.until + in_now) < 1000000);
        select count(*) = 0 into out_ready from queue_semaphore s where s.name = v_name and s.capacity <= v_held;
    end while;
end;
