-- calls: _queue_check_name, _queue_fail, _queue_permits_lock, _queue_permits_settle, queue_now
-- changes: queue_semaphore, queue_semaphore_permit
create procedure queue_semaphore(in in_name text collate exact, in in_capacity bigint)
    comment 'Defines a semaphore, or changes its capacity: how many messages that name it, in option semaphores of a
push, may be held at once, of whatever kinds. A message holds a permit of each that it names from its reserve until its
ack, nack or move, or until its hold expires or its worker is reaped. A message that can''t have all of them waits in
line, outside of the ready line, in state waiting. It has none while it waits, so two can''t block one another. When
permits get free, those are woken that lack nothing else, the oldest (by entry) first. A message that lacks more waits
on. It can wait without an end where others always take what it lacks. It is woken in the transaction that ends the
hold, or that gives a larger capacity. A hold that has expired is found by queue_reap, by queue_prune, and by whoever
wants one of its permits. A reserve looks for one, too, where it finds nothing else in the kind of a message that waits.
The late ack of that hold still counts; a late queue_extend is lost unless there is room.
in_name: its name, 1 to 100 characters.
in_capacity: 0 to 1000000; 0: nothing that names it is delivered. Below what is held now: nothing more is delivered
until enough is given back. NULL: it is removed, and keeps nobody waiting any more who named it. Where it wasn''t
there, all messages are read: those that are held and name it have permits from the beginning.
Result: name and capacity, as they are now.
Errors: PQ001 for name and capacity.
Locks: the semaphore. All who change how many of its permits are taken wait for one another''s transactions: keep those
short.
Where the idea comes from: Chapman''s semaphores.'
begin
    begin atomic
        declare v_now, v_more bigint;
        declare v_locked, v_over longtext;
        call queue_now(v_now);
        call _queue_check_name(in_name, 100, 'name');
        if in_capacity not between 0 and 1000000 then
            call _queue_fail('PQ001', 'capacity', in_capacity, 'must be an integer from 0 to 1000000');
        end if;
        call _queue_permits_lock(json_array(in_name), true, v_locked);
        if in_capacity is null then
            delete s from queue_semaphore s where s.name = in_name;
            delete h from queue_semaphore_permit h where h.name = in_name;
        else
            -- made again: who holds has a permit
            if not json_contains(v_locked, json_quote(in_name)) then
                insert into queue_semaphore_permit (entry, name, until)
                select q.entry, in_name, q.scheduled_at from delayed_queue q
                where json_contains(q.semaphores, json_quote(in_name)) and q.source_kind is null
                    and q.reserved_at is not null
                    and q.scheduled_at > v_now;
            end if;
            insert into queue_semaphore (name, capacity) values (in_name, in_capacity)
                on duplicate key update capacity = in_capacity;
            -- who was told that there is room takes a permit without the lock of the semaphore: what there is no room
            -- for any more is taken back
            select count(*) - in_capacity into v_more
                from queue_semaphore_permit h force index (queue_semaphore_permit_name)
            where h.name = in_name lock in share mode;
            if v_more > 0 then
                select json_arrayagg(l.entry) into v_over
                from (
                    select h.entry from queue_semaphore_permit h force index (queue_semaphore_permit_name)
                    where h.name = in_name and h.until + 0 < 0
                    order by h.until, h.entry desc limit v_more for update) l;
                delete h from unnest(coalesce(v_over, '[]')) j (entry bigint)
                    straight_join queue_semaphore_permit h force index (primary) on h.entry = j.entry
                        and h.name = in_name;
            end if;
            update queue_semaphore s set s.lowered = v_more > coalesce(json_length(v_over), 0) where s.name = in_name;
        end if;
        call _queue_permits_settle(null, json_array(in_name), false, v_now);
    end atomic;
    select in_name as name, in_capacity as capacity;
end;
