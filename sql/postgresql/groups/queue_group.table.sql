-- Groups: what is pushed once all of their members are done. Nothing here is updated by every call.
create table queue_group (
    group_name    text collate "C" constraint queue_group_pkey primary key,  -- serves: queue_group, queue_push
    then_kind     text collate "C" not null,
    then_payload  jsonb not null,
    then_key      text collate "C" not null,
    then_priority smallint not null,
    then_delay    bigint not null,
    on_dead       text collate "C" not null,
    fail_kind     text collate "C",
    expected      bigint,
    closed        boolean not null,
    keep_seconds  numeric not null,
    created_at    bigint not null,
    finished_at   bigint,
    failed        boolean not null default false,
    forget_at     bigint,
    checked_at    bigint not null default 0,
    checked_to    bigint not null default 0
);
-- serves: queue_prune (what is past its time)
create index queue_group_forget on queue_group (forget_at) where forget_at is not null;
-- serves: queue_prune (members whose message has gone)
create index queue_group_checked on queue_group (checked_at) where finished_at is null;
comment on table queue_group is 'Groups, and what follows them; look at it through the view queue_groups. (pyqueue_sql)';
