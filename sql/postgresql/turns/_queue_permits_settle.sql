-- calls: _queue_permits_lock, _queue_permits_next, _queue_permits_wake, _queue_setting
-- changes: queue_semaphore_permit, queue_semaphore_wait
create or replace function _queue_permits_settle(in_entries bigint[], in_names text[], in_wait boolean,
    in_now bigint) returns void language plpgsql as $$
declare
    v_noted constant bigint[] := nullif(current_setting(_queue_setting('settle'), true), '')::bigint[];
    v_names text[];
    v_locked text[];
    v_name text;
    v_freed bigint;
begin
    if v_noted <> '{}' then -- by _queue_permits_note
        perform set_config(_queue_setting('settle'), '', true);
        in_entries := in_entries || v_noted;
        in_names := in_names || array(
            select a.name from delayed_queue q, unnest(q.semaphores) a (name) where q.entry = any (v_noted));
    end if;
    delete from queue_semaphore_wait w
    where w.entry = any (in_entries) and not exists (
        select from delayed_queue q where q.entry between w.entry and w.entry
            and num_nonnulls(q.ready_at, q.due_at, q.reserved_at) = 0);
    v_names := array(
        select n.name from unnest(in_names) n (name) where n.name is not null
        union select h.name from queue_semaphore_permit h where h.entry = any (in_entries));
    if v_names = '{}' then
        return;
    end if;
    delete from queue_semaphore_permit h
    where h.entry = any (in_entries) and not exists (
        select from delayed_queue q
        where q.entry between h.entry and h.entry and case when q.reserved_at is not null then q.scheduled_at > in_now
            else q.ready_at is not null and h.until < 0 end);
    get diagnostics v_freed = row_count;
    -- where as many go on to who is next, the number of permits that are taken stays, and nobody need be waited for
    if v_freed > 0 and cardinality(v_names) = 1
        and not (select s.lowered from queue_semaphore s where s.name = v_names[1])
        and _queue_permits_wake(v_names[1], v_freed, in_now) = v_freed
    then
        return;
    end if;
    v_locked := _queue_permits_lock(v_names, in_wait);
    v_names := array(
        select n.name from unnest(v_names) n (name)
        where (n.name = any (v_locked) or (select s.name from queue_semaphore s where s.name = n.name) is null)
            and exists (select from queue_semaphore_wait w where w.name between n.name and n.name));
    while v_names <> '{}' loop
        v_name := v_names[1];
        if cardinality(v_names) > 1 then -- the line whose first is the oldest
            select n.name into v_name from unnest(v_names) n (name)
            order by (
                select w.entry from queue_semaphore_wait w
                where w.name between n.name and n.name order by w.name, w.entry limit 1) limit 1;
        end if;
        if _queue_permits_next(v_name, null, case when cardinality(v_names) > 1 then 1
            else 9223372036854775807 end, in_now) = 0
            or cardinality(v_names) = 1 then
            v_names := array_remove(v_names, v_name);
        end if;
    end loop;
end $$;

comment on function _queue_permits_settle(bigint[], text[], boolean, bigint) is
$$Frees the permits of messages that are held or ready no more, and wakes who is next: the end of each call that ends
holds, or puts in what waits. After it a call puts in no key and waits for no message.
in_entries: these messages, as far as they are there. in_names: semaphores at which somebody may be next besides; NULL:
none.
in_wait: see _queue_permits_lock. in_now: the time of the call.
Locks: where each permit of one semaphore goes on to who is next, those messages alone; else the semaphores, in the
order of their names; then as _queue_permits_next.$$;
