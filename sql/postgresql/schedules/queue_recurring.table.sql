-- What is pushed again and again. A rule is a number of microseconds (every), or sets of the parts of a local time,
-- each a mask with a bit a value, and the zone that this is the time of: by name, or at so many seconds from UTC.
create table queue_recurring (
    name         text collate "C" constraint queue_recurring_pkey primary key,  -- serves: queue_schedule, queue_unschedule
    p_kind       text collate "C" not null,
    payload      jsonb not null,
    push_options jsonb not null,
    rule         jsonb not null,
    every        bigint,
    seconds      bigint,
    minutes      bigint,
    hours        bigint,
    days         bigint,
    months       bigint,
    weekdays     bigint,
    either_day   boolean,
    zone         text,
    zone_seconds integer,
    catch_up     text not null,
    until_at     bigint,
    paused       boolean not null,
    next_at      bigint,
    last_at      bigint
);
-- serves: queue_tick
create index queue_recurring_next on queue_recurring (next_at) where not paused;
comment on table queue_recurring is 'What is pushed again and again; look at it through the view queue_schedules. (pyqueue_sql)';
