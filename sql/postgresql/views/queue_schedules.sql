create or replace view queue_schedules as
select r.name, r.p_kind, r.payload, r.push_options, r.rule, r.catch_up, r.paused, queue_timestamp(r.until_at) as until,
    queue_timestamp(r.next_at) as next_at, queue_timestamp(r.last_at) as last_at
from queue_recurring r;

comment on view queue_schedules is
$$A row a schedule: name, kind, payload and options of the push; rule, every_seconds, daily_at or cron, and its zone; catch_up,
paused and until; when it is due next (NULL: never again) and for when it last made a message.$$;
