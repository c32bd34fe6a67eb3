-- Where a session without bounds of its own may begin to scan a kind, left by sessions to which the scan from the start
-- had become slow. Only ever appended and deleted; the newest row counts.
create table queue_hint (
    id     bigint generated always as identity,
    p_kind text collate "C" not null,
    bounds bigint[] not null,
    constraint queue_hint_pkey primary key (p_kind, id)             -- serves: queue_reserve
);
comment on table queue_hint is 'Bounds of the scan for sessions that have none yet; internal to queue_reserve and queue_pop. (pyqueue_sql)';
