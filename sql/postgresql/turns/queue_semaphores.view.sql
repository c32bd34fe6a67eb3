create or replace view queue_semaphores as
select s.name, s.capacity,
    (select count(*) from queue_semaphore_permit h where h.name = s.name and h.until > n.now) as held,
    (select count(*) from queue_semaphore_wait w where w.name = s.name) as waiting
from queue_semaphore s cross join (select queue_now() as now) n;

comment on view queue_semaphores is
$$A row a semaphore, see queue_semaphore.
- name: its name.
- capacity: how many messages that name it may be held at once.
- held: how many are held.
- waiting: how many stand in its line. A message that lacks several semaphores stands in the line of one of them.$$;
