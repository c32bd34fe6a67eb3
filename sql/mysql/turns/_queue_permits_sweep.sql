-- calls: _queue_permits_settle
create procedure _queue_permits_sweep(in in_now bigint)
    comment 'Wakes who waits for a semaphore of which permits are free or their holds have expired, in whatever kind.
in_now: the time of the call.
Locks: 1000 semaphores at the most, then as _queue_permits_next; what others have locked is left.'
begin
    declare v_names longtext;
    select json_arrayagg(n.name) into v_names
    from (
        select s.name from queue_semaphore s
        where (select w.entry from queue_semaphore_wait w where w.name = s.name limit 1) is not null
            and s.capacity > (
                select count(*) from queue_semaphore_permit h where h.name = s.name
                    and (h.until < 0 or h.until > in_now))
        order by s.name limit 1000) n;
    if v_names is not null then
        call _queue_permits_settle(null, v_names, false, in_now);
    end if;
end;
