-- changes: delayed_queue, queue_kind, queue_semaphore_wait
create or replace function _queue_line_up(in_entries bigint[]) returns text[] language plpgsql as $$
declare
    v_kind text;
    v_names text[];
begin
    with u as (
        update delayed_queue q set ready_at = case when not exists (select from queue_semaphore s
            where s.name = any (q.semaphores)) then coalesce(q.ready_at, q.scheduled_at) end
        where q.entry = any (in_entries) and q.semaphores is not null and q.source_kind is null
            and q.reserved_at is null and q.due_at is null
        returning q.entry, q.semaphores, q.p_kind, q.ready_at is null as waits),
    i as (
        insert into queue_semaphore_wait (entry, name, p_kind)
        select u.entry, u.semaphores[1], u.p_kind from u where u.waits
        on conflict on constraint queue_semaphore_wait_pkey do nothing)
    select array_agg(distinct a.name) into v_names from u, unnest(u.semaphores) a (name) where u.waits;
    for v_kind in
        select distinct q.p_kind from unnest(in_entries) e (entry), -- OFFSET: ADR 13
            lateral (select m.* from delayed_queue m where m.entry = e.entry offset 0) q
        where q.semaphores is not null and q.source_kind is null
            and not exists (select from queue_kind k where k.p_kind = q.p_kind and k.semaphores)
        order by 1
    loop
        insert into queue_kind as k (p_kind, semaphores) values (v_kind, true)
        on conflict on constraint queue_kind_pkey do update set semaphores = true where not k.semaphores;
    end loop;
    return v_names;
end $$;

comment on function _queue_line_up(bigint[]) is
$$Puts messages that name semaphores in line for them, out of the ready line; _queue_permits_settle wakes those for
which there is room. What is delayed waits for its time first. Their kind is marked, so that queue_reserve knows.
in_entries: messages; those without semaphores, and dead letters, which need none, stay as they are. Those whose
semaphores aren't there, or have gone while a batch was put in, are ready.
Result: the names of the semaphores; NULL: none.
Locks: the messages; the settings of a kind that had no such message before.$$;
