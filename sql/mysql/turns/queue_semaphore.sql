-- calls: _queue_semaphore
drop procedure if exists queue_semaphore;
delimiter $$
create procedure queue_semaphore(in in_name text collate exact, in in_capacity bigint)
    comment 'Defines a semaphore, or changes its capacity: how many messages that name it, in option semaphores of a
push, may be held at once, of whatever kinds. A message holds a slot of each that it names from its reserve until its
ack, nack or move, or until its hold expires or its worker is reaped. A message that can''t have all of them waits in
line, outside of the ready line, in state waiting. It has none while it waits, so two can''t block one another. When
slots get free, those are woken that lack nothing else, the oldest (by entry) first. A message that lacks more waits on.
It can wait without an end where others always take what it lacks. It is woken in the transaction that ends the hold, or
that gives a larger capacity. A hold that has expired is found by queue_reap, by queue_prune, and by whoever wants one
of its slots. A reserve looks for one, too, where it finds nothing else in the kind of a message that waits. The late
ack of that hold still counts; a late queue_extend is lost unless there is room.
in_name: its name, 1 to 100 characters.
in_capacity: 0 to 1000000; 0: nothing that names it is delivered. Below what is held now: nothing more is delivered
until enough is given back. NULL: it is removed, and keeps nobody waiting any more who named it. Where it wasn''t
there, all messages are read: those that are held and name it have slots from the beginning.
Result: name and capacity, as they are now.
Errors: PQ001 for name and capacity.
Locks: the semaphore. All who take or give a slot of it wait for one another''s transactions: keep those short.
Where the idea comes from: Chapman''s semaphores.'
begin
    begin atomic
        call _queue_semaphore(in_name, in_capacity);
    end atomic;
    select in_name as name, in_capacity as capacity;
end $$
delimiter ;
