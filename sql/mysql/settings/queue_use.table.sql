-- When kinds with expires_seconds were last used. Only ever appended, so that nobody waits for anybody; who
-- appends removes what is too old to count.
-- differs: the number, UUID_SHORT(), is there because group replication wants a primary key.
create table if not exists queue_use (
    id                     bigint unsigned not null,
    p_kind                 varchar(100) not null,
    used_at                bigint not null,
    primary key (id),
    key queue_use_newest (p_kind, used_at) -- serves: queue_reserve, queue_prune
) engine = innodb row_format = dynamic collate exact
    comment 'When kinds that go when unused were last used; see expires_seconds of queue_define. (pyqueue_sql)';
