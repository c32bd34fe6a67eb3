-- What is pushed again and again. A rule is a number of microseconds (every), or sets of the parts of a local time,
-- each a mask with a bit a value, and the zone that this is the time of: by name, or at so many seconds from UTC.
create table if not exists queue_recurring (
    name                   varchar(100) not null,
    p_kind                 varchar(100) not null,
    payload                json not null,
    push_options           json not null,
    rule                   json not null,
    every                  bigint,
    seconds                bigint,
    minutes                bigint,
    hours                  bigint,
    days                   bigint,
    months                 bigint,
    weekdays               bigint,
    either_day             boolean,
    zone                   varchar(64),
    zone_seconds           int,
    catch_up               varchar(10) not null,
    until_at               bigint,
    paused                 boolean not null,
    next_at                bigint,
    last_at                bigint,
    primary key (name), -- serves: queue_schedule, queue_unschedule
    key queue_recurring_next (paused, next_at) -- serves: queue_tick
) engine = innodb row_format = dynamic collate exact
    comment 'What is pushed again and again; look at it through the view queue_schedules. (pyqueue_sql)';
