create or replace view queue_schedules as
select r.name, r.p_kind, r.payload, r.push_options, r.rule, r.catch_up, r.paused, queue_timestamp(r.until_at) as until,
    queue_timestamp(r.next_at) as next_at, queue_timestamp(r.last_at) as last_at
from queue_recurring r;

comment on view queue_schedules is
$$A row a schedule, see queue_schedule.
- name: its name.
- p_kind: the kind that it pushes to.
- payload: the payload of each push.
- push_options: the options of each push.
- rule: every_seconds, daily_at or cron, and the time zone.
- catch_up: what becomes of late occurrences: last, all or skip.
- paused: whether it is paused.
- until: its end.
- next_at: when it is due next; NULL: never again.
- last_at: for when it last made a message.$$;
