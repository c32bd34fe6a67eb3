create or replace view queue_groups as
select g.group_name, g.then_kind,
    case when g.failed then 'failed' when g.finished_at is not null then 'done' when g.closed then 'closed'
    else 'open' end as state, m.members, m.done, m.dead, queue_timestamp(g.created_at) as created_at,
        queue_timestamp(g.finished_at) as finished_at
from queue_group g
cross join lateral (
    select count(*) as members, count(o.done_at) as done,
        count(*) filter (where o.outcome = 'dead' or o.error is not null and o.done_at is null) as dead
    from queue_group_member o where o.group_name = g.group_name) m;

comment on view queue_groups is
$$A row a group, see queue_group.
- group_name: its name.
- then_kind: the kind of its continuation.
- state: open; closed: all members are known and some aren't done; done; failed.
- members: how many members it has.
- done: how many are done.
- dead: how many are dead.
- created_at: when it was made.
- finished_at: when it finished.$$;
