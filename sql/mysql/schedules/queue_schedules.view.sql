-- A row a schedule, see queue_schedule.
-- - name: its name.
-- - p_kind: the kind that it pushes to.
-- - payload: the payload of each push.
-- - push_options: the options of each push.
-- - rule: every_seconds, daily_at or cron, and the time zone.
-- - catch_up: what becomes of late occurrences: last, all or skip.
-- - paused: whether it is paused.
-- - until: its end.
-- - next_at: when it is due next; NULL: never again.
-- - last_at: for when it last made a message.
-- Times are of UTC.
-- differs: a view has no comment.
create or replace view queue_schedules as
select r.name, r.p_kind, r.payload, r.push_options, r.rule, r.catch_up, r.paused,
    timestamp '1970-01-01 00:00:00.000000' + interval r.until_at microsecond as until,
    timestamp '1970-01-01 00:00:00.000000' + interval r.next_at microsecond as next_at,
    timestamp '1970-01-01 00:00:00.000000' + interval r.last_at microsecond as last_at
from queue_recurring r;
