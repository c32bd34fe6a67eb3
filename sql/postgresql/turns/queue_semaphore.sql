-- calls: _queue_check_name, _queue_fail, _queue_permits_lock, _queue_permits_settle, queue_now
-- changes: queue_semaphore, queue_semaphore_permit
create or replace function queue_semaphore(in_name text, in_capacity bigint, out name text, out capacity bigint)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
begin
    perform _queue_check_name(in_name, 100, 'name');
    if in_capacity not between 0 and 1000000 then
        perform _queue_fail('PQ001', 'capacity', in_capacity::text, 'must be an integer from 0 to 1000000');
    end if;
    name := in_name;
    capacity := in_capacity;
    perform _queue_permits_lock(array[in_name], true);
    if in_capacity is null then
        delete from queue_semaphore s where s.name = in_name;
    elsif not exists (select from queue_semaphore s where s.name = in_name) then -- made again: who holds has a permit
        insert into queue_semaphore_permit (entry, name, until)
        select q.entry, in_name, q.scheduled_at from delayed_queue q
        where in_name = any (q.semaphores) and q.source_kind is null and q.reserved_at is not null
            and q.scheduled_at > v_now
        on conflict on constraint queue_semaphore_permit_pkey do nothing;
    end if;
    -- who was told that there is room takes a permit without the lock of the semaphore: what there is no room for any
    -- more is taken back
    with o as (
        select h.entry from queue_semaphore_permit h
        where h.name = in_name and (h.until < 0 or in_capacity is null) order by h.until, h.entry desc
        limit greatest((
            select count(*) from queue_semaphore_permit c where c.name = in_name) - coalesce(in_capacity, 0), 0)
        for update skip locked) -- who is taking one of them, or gives it back, is first
    delete from queue_semaphore_permit h using o where h.entry = o.entry and h.name = in_name;
    insert into queue_semaphore as s (name, capacity, lowered)
    select in_name, in_capacity, count(*) > in_capacity from queue_semaphore_permit c where c.name = in_name
    having in_capacity is not null
    on conflict on constraint queue_semaphore_pkey
        do update set capacity = excluded.capacity, lowered = excluded.lowered;
    perform _queue_permits_settle(null::bigint[], array[in_name], false, v_now);
end $$;

comment on function queue_semaphore(text, bigint) is
$$Defines a semaphore, or changes its capacity: how many messages that name it, in option semaphores of a push, may be
held at once, of whatever kinds. A message holds a permit of each that it names from its reserve until its ack, nack or
move, or until its hold expires or its worker is reaped. A message that can't have all of them waits in line, outside
of the ready line, in state waiting. It has none while it waits, so two can't block one another. When permits get free,
those are woken that lack nothing else, the oldest (by entry) first. A message that lacks more waits on. It can wait
without an end where others always take what it lacks. It is woken in the transaction that ends the hold, or that
gives a larger capacity. A hold that has expired is found by queue_reap, by queue_prune, and by whoever wants one of
its permits. A reserve looks for one, too, where it finds nothing else in the kind of a message that waits. The late ack
of that hold still counts; a late queue_extend is lost unless there is room.
in_name: its name, 1 to 100 characters.
in_capacity: 0 to 1000000; 0: nothing that names it is delivered. Below what is held now: nothing more is delivered
until enough is given back. NULL: it is removed, and keeps nobody waiting any more who named it. Where it wasn't
there, all messages are read: those that are held and name it have permits from the beginning.
Result: name and capacity, as they are now.
Errors: PQ001 for name and capacity.
Locks: the semaphore. All who change how many of its permits are taken wait for one another's transactions: keep those
short.
Where the idea comes from: Chapman's semaphores.$$;
