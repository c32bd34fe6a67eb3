-- A row a group, see queue_group.
-- - group_name: its name.
-- - then_kind: the kind of its continuation.
-- - state: open; closed: all members are known and some aren't done; done; failed.
-- - members: how many members it has.
-- - done: how many are done.
-- - dead: how many are dead.
-- - created_at: when it was made.
-- - finished_at: when it finished.
-- Times are of UTC.
-- differs: a view has no comment.
create or replace view queue_groups as
select g.group_name, g.then_kind,
    case when g.failed then 'failed' when g.finished_at is not null then 'done' when g.closed then 'closed'
    else 'open' end as state, (select count(*) from queue_group_member m where m.group_name = g.group_name) as members,
    (select count(m.done_at) from queue_group_member m where m.group_name = g.group_name) as done,
    (select count(*) from queue_group_member m where m.group_name = g.group_name
        and (m.outcome = 'dead' or m.error is not null and m.done_at is null)) as dead,
    timestamp '1970-01-01 00:00:00.000000' + interval g.created_at microsecond as created_at,
    timestamp '1970-01-01 00:00:00.000000' + interval g.finished_at microsecond as finished_at
from queue_group g;
