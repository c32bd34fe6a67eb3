-- written by hand: the change of the tables
alter table queue_kind
    add column draining boolean not null default false,
    add column expires_seconds decimal(20,6),
    comment 'Settings of kinds, written by queue_define, queue_pause, queue_drain and queue_resume.';
--;
-- When kinds with expires_seconds were last used. Only ever appended, so that nobody waits for anybody; who
-- appends removes what is too old to count.
-- differs: the number, UUID_SHORT(), is there because group replication wants a primary key.
create table if not exists queue_use (
    id                     bigint unsigned not null,
    p_kind                 varchar(100) not null,
    used_at                bigint not null,
    primary key (id),
    key queue_use_newest (p_kind, used_at) -- serves: queue_reserve, queue_prune
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'When kinds that go when unused were last used; see expires_seconds of queue_define.';
--;
-- Which kinds get a copy of what is published. A pattern is found by its words before the first wildcard (head) and by its last
-- word (tail, empty where that is a wildcard), so that a publish looks at a few of them; of these LIKE
-- finds most that don't fit (sketch), since to read a regular expression takes long, and that decides (matcher).
create table if not exists queue_subscription (
    pattern                varchar(255) not null,
    p_kind                 varchar(100) not null,
    head                   varchar(255) not null,
    tail                   varchar(255) not null,
    sketch                 varchar(600) not null,
    matcher                varchar(3000) not null,
    subscribed_at          bigint not null,
    primary key (pattern, p_kind), -- serves: queue_subscribe, queue_unsubscribe
    key queue_subscription_words (head, tail), -- serves: queue_publish
    key queue_subscription_kind (p_kind) -- serves: queue_drop
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'Which kinds get a copy of what is published; look at it through the view queue_subscriptions.';
--;
-- What is pushed again and again. A rule is a number of microseconds (every), or sets of the parts of a local time, each a mask
-- with a bit a value, and the zone that this is the time of: by name, or at so many seconds from UTC.
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
) engine = innodb collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */
    comment 'What is pushed again and again; look at it through the view queue_schedules.';
