create or replace function _queue_defaults() returns queue_kind language sql immutable as $$
    select jsonb_populate_record(null::queue_kind, '{"timeout_seconds": 300, "max_attempts": 25, "backoff_seconds": 1,
        "backoff_factor": 2, "backoff_max_seconds": 3600, "jitter": 0.2, "paused": false, "dedup_seconds": 0,
        "history_seconds": 0, "draining": false, "semaphores": false, "filter_index": false, "log_seconds": 0}')
$$;

comment on function _queue_defaults() is
$$The settings of a kind that nobody defined; those of the columns of queue_kind are the same. Immutable, so that a plan
has them as constants.
Result: a row of queue_kind, without a kind.$$;
