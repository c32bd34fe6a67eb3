-- changes: delayed_queue, queue_kind, queue_semaphore_wait
create or replace function _queue_line_up(in_entries bigint[]) returns text[] language plpgsql as $$
declare
    v_kinds text[]; v_names text[];
begin
    with l as materialized (
        select q.entry, q.p_kind, q.semaphores, q.ready_at is null as stands,
            q.reserved_at is null and q.due_at is null as placed,
            exists (select from queue_semaphore s where s.name = any (q.semaphores)) as waits
        from delayed_queue q
        where q.entry = any (in_entries) and q.semaphores is not null and q.source_kind is null),
    u as (
        update delayed_queue q set ready_at = case when q.ready_at is null then q.scheduled_at end
        where q.entry = any (array(select l.entry from l where l.placed and l.stands <> l.waits))),
    i as (
        insert into queue_semaphore_wait (entry, name, p_kind)
        select l.entry, l.semaphores[1], l.p_kind from l where l.placed and l.waits
        on conflict on constraint queue_semaphore_wait_pkey do nothing)
    select array_agg(distinct l.p_kind), array_agg(distinct a.name) filter (where l.placed and l.waits)
    into v_kinds, v_names from l, unnest(l.semaphores) a (name);
    -- an INSERT of nothing locks the table, too, which queue_drop has locked before it locks messages
    if exists (
        select from unnest(v_kinds) n (kind)
        where not exists (select from queue_kind k where k.p_kind = n.kind and k.semaphores))
    then
        insert into queue_kind as k (p_kind, semaphores)
        select n.kind, true from unnest(v_kinds) n (kind) order by n.kind collate "C"
        on conflict on constraint queue_kind_pkey do update set semaphores = true where not k.semaphores;
    end if;
    return v_names;
end $$;

comment on function _queue_line_up(bigint[]) is
$$Puts messages that name semaphores in line for them, out of the ready line; _queue_permits_settle wakes those for
which there is room. What is delayed waits for its time first. Their kind is marked, so that queue_reserve knows.
in_entries: messages; those without semaphores, and dead letters, which need none, stay as they are. Those whose
semaphores aren't there, or have gone while a batch was put in, are ready.
Result: the names of the semaphores; NULL: none.
Locks: the messages; the settings of a kind that had no such message before.$$;
