-- When kinds with expires_seconds were last used. Only ever appended, so that nobody waits for anybody; who
-- appends removes what is too old to count.
create table queue_use (
    p_kind  text collate "C" not null,
    used_at bigint not null
);
-- serves: queue_reserve, queue_prune
create index queue_use_newest on queue_use (p_kind, used_at);
comment on table queue_use is 'When kinds that go when unused were last used; see expires_seconds of queue_define.';
