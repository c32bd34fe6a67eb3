-- The settings of the kinds that somebody defined, paused or drains; every other kind works with the defaults, see
-- _queue_defaults.
create table queue_kind (
    p_kind              text collate "C" constraint queue_kind_pkey primary key,    -- serves: every routine
    timeout_seconds     numeric not null default 300,
    max_attempts        integer default 25,
    backoff_seconds     numeric not null default 1,
    backoff_factor      numeric not null default 2,
    backoff_max_seconds numeric not null default 3600,
    jitter              numeric not null default 0.2,
    dead_letter_kind    text collate "C",
    paused              boolean not null default false,
    dedup_seconds       numeric not null default 0,
    history_seconds     numeric not null default 0,
    payload_shape       jsonb,
    draining            boolean not null default false,
    expires_seconds     numeric,
    semaphores          boolean not null default false,
    max_reserved        integer,
    rate_per_second     numeric,
    filter_index        boolean not null default false,
    log_seconds         numeric not null default 0,
    roles               jsonb
);
-- serves: queue_ack, queue_ack_many, queue_purge (is there anything to keep, or anybody to tell?)
create index queue_kind_keeps on queue_kind (p_kind)
    where history_seconds > 0 or dedup_seconds > 0 or max_reserved is not null or log_seconds > 0;
comment on table queue_kind is 'Settings of kinds, written by queue_define, queue_pause, queue_drain and queue_resume. (pyqueue_sql)';
