-- calls: _queue_wake
-- changes: delayed_queue, queue_semaphore_permit, queue_semaphore_wait
create or replace function _queue_permits_wake(in_name text, in_max bigint, in_now bigint) returns bigint
    language plpgsql as $$
declare
    v_next bigint[];
    v_alone boolean[];
begin
    select array_agg(n.entry), array_agg(n.alone) into v_next, v_alone
    from (
        select q.entry, q.alone
        from (
            select w.entry from queue_semaphore_wait w where w.name between in_name and in_name -- BETWEEN: ADR 13
            order by w.name, w.entry limit in_max + 20) l,
            lateral (
                select m.entry, cardinality(m.semaphores) = 1 as alone from delayed_queue m
                where m.entry between l.entry and l.entry and num_nonnulls(m.ready_at, m.due_at, m.reserved_at) = 0
                for update skip locked) q
        limit in_max) n;
    v_next := v_next[: coalesce(array_position(v_alone, false) - 1, cardinality(v_next))];
    if v_next <> '{}' then
        delete from queue_semaphore_wait w where w.entry = any (v_next);
        insert into queue_semaphore_permit (entry, name, until)
        select n.entry, s.name, -in_now from unnest(v_next) n (entry), queue_semaphore s where s.name = in_name
        on conflict on constraint queue_semaphore_permit_pkey do update set until = -in_now;
        update delayed_queue q set ready_at = in_now where q.entry = any (v_next);
        perform _queue_wake(k.p_kind, k.p_key)
        from (select q.p_kind, min(q.p_key) as p_key from delayed_queue q where q.entry = any (v_next) group by 1) k;
    end if;
    return coalesce(cardinality(v_next), 0);
end $$;

comment on function _queue_permits_wake(text, bigint, bigint) is
$$Wakes who is next in the line of a semaphore, all in a few statements, up to the first that names another one, which
is left to _queue_permits_next.
in_name: the semaphore. in_max: how many there is room for, at most 10000. in_now: the time of the call.
Result: how many went to the ready line, each with a permit promised.
Locks: the messages; what others have locked is passed over.
differs: on MariaDB and MySQL it looks for room itself, in several lines at once.$$;
