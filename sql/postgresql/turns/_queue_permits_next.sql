-- calls: _queue_permits_lock, _queue_permits_room, _queue_permits_wake, _queue_wake
-- changes: delayed_queue, queue_semaphore_permit, queue_semaphore_wait
create or replace function _queue_permits_next(in_name text, in_kind text, in_max bigint, in_now bigint) returns bigint
    language plpgsql as $$
declare
    v_room bigint := coalesce(_queue_permits_room(in_name, in_kind is null, in_now), 9223372036854775807);
    v_looks integer := 100;
    v_last bigint := -1;
    v_woken bigint := 0;
    v_most bigint;
    v_set bigint;
    v_wait record;
    v_row delayed_queue;
    v_lacks text;
begin
    while in_kind is null and v_room > 0 and v_woken < in_max loop -- most of them
        v_most := least(v_room, in_max - v_woken, 10000);
        v_set := _queue_permits_wake(in_name, v_most, in_now);
        v_room := v_room - v_set;
        v_woken := v_woken + v_set;
        exit when v_set < v_most;
    end loop;
    while v_room > 0 and v_woken < in_max and v_looks > 0 loop
        select l.entry, l.p_kind into v_wait
        from (
            (select w.entry, w.p_kind from queue_semaphore_wait w
                where in_kind is null and (w.name, w.entry) > (in_name, v_last) and w.name <= in_name
                order by w.name, w.entry limit 1)
            union all
            (select w.entry, w.p_kind from queue_semaphore_wait w
                where (w.p_kind, w.name, w.entry) > (in_kind, in_name, v_last)
                    and (w.p_kind, w.name) <= (in_kind, in_name)
                order by w.p_kind, w.name, w.entry limit 1)) l;
        exit when not found;
        v_last := v_wait.entry;
        v_looks := v_looks - 1;
        select q.* into v_row from delayed_queue q where q.entry = v_last for update skip locked;
        if not found or num_nonnulls(v_row.ready_at, v_row.due_at, v_row.reserved_at) > 0 then
            delete from queue_semaphore_wait w
            where w.entry = v_last and not exists (
                select from delayed_queue q where q.entry = v_last
                    and num_nonnulls(q.ready_at, q.due_at, q.reserved_at) = 0);
            perform _queue_wake(v_wait.p_kind, null) where not found; -- who has locked it may be undone
            continue;
        end if;
        v_row.semaphores := array(
            select s.name from queue_semaphore s where s.name = any (v_row.semaphores) order by s.name);
        continue when not v_row.semaphores <@ (_queue_permits_lock(v_row.semaphores, false) || in_name);
        v_lacks := (
            select n.name from unnest(v_row.semaphores) n (name)
            where n.name <> in_name and _queue_permits_room(n.name, in_kind is null, in_now) <= 0 order by 1 limit 1);
        if v_lacks is not null then
            update queue_semaphore_wait w set name = v_lacks where w.entry = v_last;
            continue;
        end if;
        update delayed_queue q set ready_at = in_now where q.entry = v_last;
        delete from queue_semaphore_wait w where w.entry = v_last;
        insert into queue_semaphore_permit (entry, name, until)
        select v_last, n.name, -in_now from unnest(v_row.semaphores) n (name)
        on conflict on constraint queue_semaphore_permit_pkey do update set until = -in_now;
        perform _queue_wake(v_row.p_kind, v_row.p_key);
        v_room := v_room - 1;
        v_looks := v_looks + 1;
        v_woken := v_woken + 1;
    end loop;
    return v_woken;
end $$;

comment on function _queue_permits_next(text, text, bigint, bigint) is
$$Wakes who is next in the line of a semaphore: those that lack nothing else, the oldest first. One that lacks another
goes to the line of that, 100 at the most; the others stay where they are.
in_name: the semaphore, locked already. in_kind: only what waits in this kind, which somebody asks for, past whoever was
told that there is room a second ago or longer; NULL: any kind, as many as there is room for. in_max: how many at the
most. in_now: the time of the call.
Result: how many went to the ready line, where they stand last of their priority.
Locks: these messages, and their other semaphores; what others have locked stays as it is.$$;
