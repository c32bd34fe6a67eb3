create procedure _queue_defaults(out out_timeout_seconds decimal(20,6), out out_max_attempts int,
    out out_backoff_seconds decimal(30,6), out out_backoff_factor decimal(30,6),
    out out_backoff_max_seconds decimal(30,6), out out_jitter decimal(30,6))
    comment 'The settings of a kind that nobody defined; those of the columns of queue_kind are the same.
out_timeout_seconds, out_max_attempts, out_backoff_seconds, out_backoff_factor, out_backoff_max_seconds, out_jitter: the
settings; all others are off.
differs: PostgreSQL answers a row of queue_kind.'
begin
    set out_timeout_seconds = 300, out_max_attempts = 25, out_backoff_seconds = 1, out_backoff_factor = 2,
        out_backoff_max_seconds = 3600, out_jitter = 0.2;
end;
