-- written by hand: the change of the tables
alter table queue_kind
    add column draining boolean not null default false,
    add column expires_seconds numeric;
--;
comment on table queue_kind is 'Settings of kinds, written by queue_define, queue_pause, queue_drain and queue_resume.';
--;
-- When kinds with expires_seconds were last used. Only ever appended, so that nobody waits for anybody; who
-- appends removes what is too old to count.
create table queue_use (
    p_kind  text collate "C" not null,
    used_at bigint not null
);
--;
-- serves: queue_reserve, queue_prune
create index queue_use_newest on queue_use (p_kind, used_at);
--;
comment on table queue_use is 'When kinds that go when unused were last used; see expires_seconds of queue_define.';
--;
-- Which kinds get a copy of what is published. A pattern is found by its words before the first wildcard (head) and by its last
-- word (tail, empty where that is a wildcard), so that a publish looks at a few of them; of these LIKE
-- finds most that don't fit (sketch), since to read a regular expression takes long, and that decides (matcher).
create table queue_subscription (
    pattern       text collate "C" not null,
    p_kind        text collate "C" not null,
    head          text collate "C" not null,
    tail          text collate "C" not null,
    sketch        text collate "C" not null,
    matcher       text collate "C" not null,
    subscribed_at bigint not null,
    constraint queue_subscription_pkey primary key (pattern, p_kind)  -- serves: queue_subscribe, queue_unsubscribe
);
--;
-- serves: queue_publish
create index queue_subscription_words on queue_subscription (head, tail);
--;
-- serves: queue_drop
create index queue_subscription_kind on queue_subscription (p_kind);
--;
comment on table queue_subscription is 'Which kinds get a copy of what is published; look at it through the view queue_subscriptions.';
--;
-- What is pushed again and again. A rule is a number of microseconds (every), or sets of the parts of a local time, each a mask
-- with a bit a value, and the zone that this is the time of: by name, or at so many seconds from UTC.
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
--;
-- serves: queue_tick
create index queue_recurring_next on queue_recurring (next_at) where not paused;
--;
comment on table queue_recurring is 'What is pushed again and again; look at it through the view queue_schedules.';
