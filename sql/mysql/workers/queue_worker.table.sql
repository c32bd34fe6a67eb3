-- Workers that said that they are there: queue_heartbeat. What others hold is left to the timeout. server_run names the
-- run of the server in which one was last heard of; 0: it is judged by its heartbeat alone.
-- differs: session_lock is the name of a lock, session_id a connection's number.
create table if not exists queue_worker (
    worker                 varchar(200) not null,
    kinds                  json,
    info                   json,
    started_at             bigint not null,
    heartbeat_at           bigint not null,
    timeout_seconds        decimal(20,6) not null,
    session_lock           varchar(64),
    session_id             bigint unsigned,
    reconnect_seconds      decimal(20,6) not null default 0,
    upkeep                 boolean not null default true,
    server_run             bigint not null default 0,
    primary key (worker) -- serves: queue_heartbeat, queue_reap
) engine = innodb row_format = dynamic collate exact
    comment 'Registered workers, written by queue_heartbeat and queue_reap; look at them through the view queue_workers. (pyqueue_sql)';
