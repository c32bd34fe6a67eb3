create or replace function _queue_permits_ready(in_kind text, in_now bigint, out ready boolean,
    out next_at bigint) language plpgsql as $$
begin
    with recursive l (name, n) as (
        (select w.name, 1 from queue_semaphore_wait w where w.p_kind between in_kind and in_kind
            order by w.p_kind, w.name limit 1)
        union all
        select (
            select w.name from queue_semaphore_wait w
            where (w.p_kind, w.name) > (in_kind, l.name) and w.p_kind <= in_kind order by w.p_kind, w.name limit 1),
                l.n + 1
        from l where l.name is not null and l.n < 100)
    select coalesce(bool_or(coalesce(s.capacity, 1) > (
            select count(*) from queue_semaphore_permit h where h.name = l.name
                and (h.until > in_now or abs(h.until + in_now) < 1000000))), false),
        min((select min(case when h.until < 0 then 1000000 - h.until else h.until end) from queue_semaphore_permit h
            where h.name = l.name and (h.until > in_now or abs(h.until + in_now) < 1000000)))
    into ready, next_at
    from l left join queue_semaphore s on s.name = l.name where l.name is not null;
end $$;

comment on function _queue_permits_ready(text, bigint) is
$$Whether there may be room for what waits in a kind for semaphores, and if not, when the next hold of one ends; nothing
is locked.
in_kind: the kind. in_now: the time of the call.
Result: ready, next_at, as _queue_ready; of 100 semaphores at the most.$$;
