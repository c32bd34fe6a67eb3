-- The settings of the kinds that somebody defined, paused or drains; every other kind works with the defaults, see
-- _queue_defaults.
create table if not exists queue_kind (
    p_kind                 varchar(100) not null,
    timeout_seconds        decimal(20,6) not null default 300,
    max_attempts           int default 25,
    backoff_seconds        decimal(20,6) not null default 1,
    backoff_factor         decimal(20,6) not null default 2,
    backoff_max_seconds    decimal(20,6) not null default 3600,
    jitter                 decimal(20,6) not null default 0.2,
    dead_letter_kind       varchar(100),
    paused                 boolean not null default false,
    dedup_seconds          decimal(20,6) not null default 0,
    history_seconds        decimal(20,6) not null default 0,
    payload_shape          json,
    draining               boolean not null default false,
    expires_seconds        decimal(20,6),
    semaphores             boolean not null default false,
    max_reserved           int,
    rate_per_second        decimal(20,6),
    filter_index           boolean not null default false,
    log_seconds            decimal(20,6) not null default 0,
    roles                  json,
    primary key (p_kind) -- serves: every routine
) engine = innodb row_format = dynamic collate exact
    comment 'Settings of kinds, written by queue_define, queue_pause, queue_drain and queue_resume. (pyqueue_sql)';
