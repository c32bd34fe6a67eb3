-- A row a schedule: name, kind, payload and options of the push; rule, every_seconds, daily_at or cron, and its zone; catch_up,
-- paused and until; when it is due next (NULL: never again) and for when it last made a message, times of UTC.
-- differs: a view has no comment.
create or replace view queue_schedules as
select r.name, r.p_kind, r.payload, r.push_options, r.rule, r.catch_up, r.paused,
    timestamp '1970-01-01 00:00:00.000000' + interval r.until_at microsecond as until,
    timestamp '1970-01-01 00:00:00.000000' + interval r.next_at microsecond as next_at,
    timestamp '1970-01-01 00:00:00.000000' + interval r.last_at microsecond as last_at
from queue_recurring r;
