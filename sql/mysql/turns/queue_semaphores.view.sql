-- A row a semaphore, see queue_semaphore.
-- - name: its name.
-- - capacity: how many messages that name it may be held at once.
-- - held: how many are held.
-- - waiting: how many stand in its line. A message that lacks several semaphores stands in the line of one of them.
-- differs: a view has no comment, and can't call queue_now(): it has that clock's expression.
create or replace view queue_semaphores as
select s.name, s.capacity,
    (select count(*) from queue_semaphore_permit h
        where h.name = s.name
            and h.until > timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6))) as held,
    (select count(*) from queue_semaphore_wait w where w.name = s.name) as waiting
from queue_semaphore s;
