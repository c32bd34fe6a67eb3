-- calls: _queue_setting
-- changes: queue_semaphore
create or replace function _queue_permits_lock(in_names text[], in_wait boolean) returns text[] language plpgsql as $$
declare
    v_locked text[];
begin
    if in_wait then
        -- with those of who may be next, because to lock them later would be out of order; BETWEEN: ADR 13
        v_locked := array(
            select s.name from queue_semaphore s
            where s.name = any (in_names || array(
                select a.name
                from (select distinct n.name from unnest(in_names) n (name)) d, lateral (
                    select w.entry from queue_semaphore_wait w
                    where w.name between d.name and d.name order by w.name, w.entry limit 3) l
                join delayed_queue q on q.entry between l.entry and l.entry, unnest(q.semaphores) a (name)))
            order by s.name for update);
        perform set_config(_queue_setting('permits'), 'locked', true);
    else
        v_locked := array(
            select s.name from queue_semaphore s where s.name = any (in_names) order by s.name for update skip locked);
    end if;
    -- an old snapshot fails on what is written
    update queue_semaphore s set capacity = s.capacity where s.name = any (v_locked);
    return v_locked;
end $$;

comment on function _queue_permits_lock(text[], boolean) is
$$Locks semaphores: who has locked one takes its free permits, and nobody else. The last that a call locks, so that
whoever waits for one keeps nobody waiting that has it.
in_names: the semaphores. in_wait: false: what others have locked is left out, which is for who has locked some already.
Result: the names of those that are there and locked.
Locks: these rows, in the order of their names.$$;
