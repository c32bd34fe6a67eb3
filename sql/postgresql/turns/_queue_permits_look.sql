-- calls: _queue_permits_lock, _queue_permits_next
create or replace function _queue_permits_look(in_kind text, in_max bigint,
    in_now bigint) returns bigint language plpgsql as $$
declare
    v_name text;
    v_woken bigint := 0;
begin
    for v_name in
        with recursive l (name, n) as (
            (select w.name, 1 from queue_semaphore_wait w where w.p_kind between in_kind and in_kind
                order by w.p_kind, w.name limit 1)
            union all
            select (
                select w.name from queue_semaphore_wait w
                where (w.p_kind, w.name) > (in_kind, l.name) and w.p_kind <= in_kind order by w.p_kind, w.name limit 1),
                    l.n + 1
            from l where l.name is not null and l.n < 100)
        select l.name from l
        where l.name is not null and coalesce((
            select s.capacity > (
                select count(*) from queue_semaphore_permit h where h.name = s.name
                    and (h.until > in_now or abs(h.until + in_now) < 1000000))
            from queue_semaphore s where s.name = l.name), true)
        order by 1
    loop
        exit when v_woken >= in_max;
        if _queue_permits_lock(array[v_name], false) <> '{}'
            or not exists (select from queue_semaphore s where s.name = v_name) then
            v_woken := v_woken + _queue_permits_next(v_name, in_kind, in_max - v_woken, in_now);
        end if;
    end loop;
    return v_woken;
end $$;

comment on function _queue_permits_look(text, bigint, bigint) is
$$Looks whether there is room by now for what waits in a kind, though nobody said so: a hold has expired, or whoever was
told that there is room, a second ago or longer, isn't taken. What a reserve does that finds too little ready.
in_kind: the kind. in_max: how many are wanted. in_now: the time of the call.
Result: how many went to the ready line; of 100 semaphores at the most.
Locks: these semaphores and as _queue_permits_next; what others have locked is left.$$;
