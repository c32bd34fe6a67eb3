create or replace view queue_groups as
select g.group_name, g.then_kind,
    case when g.failed then 'failed' when g.finished_at is not null then 'done' when g.closed then 'closed' else 'open' end as state,
    m.members, m.done, m.dead, queue_timestamp(g.created_at) as created_at, queue_timestamp(g.finished_at) as finished_at
from queue_group g
cross join lateral (
    select count(*) as members, count(o.done_at) as done,
        count(*) filter (where o.outcome = 'dead' or o.error is not null and o.done_at is null) as dead
    from queue_group_member o where o.group_name = g.group_name) m;

comment on view queue_groups is
$$A row a group: its name, the kind of what follows it; state: open, closed (it finishes when all are done), done, failed; how many
members it has, how many are done, how many are dead; when it was made, when it finished.$$;
