-- Workers that said that they are there: queue_heartbeat. What others hold is left to the timeout. server_run names the
-- run of the server in which one was last heard of; 0: it is judged by its heartbeat alone.
create table queue_worker (
    worker          text collate "C" constraint queue_worker_pkey primary key,      -- serves: queue_heartbeat
    kinds           jsonb,
    info            jsonb,
    started_at      bigint not null,
    heartbeat_at    bigint not null,
    timeout_seconds numeric not null,
    session_lock    integer,
    session_id      integer,
    reconnect_seconds numeric not null default 0,
    upkeep          boolean not null default true,
    server_run      bigint not null default 0
) with (fillfactor = 50);
comment on table queue_worker is 'Registered workers, written by queue_heartbeat and queue_reap; look at them through the view queue_workers. (pyqueue_sql)';
