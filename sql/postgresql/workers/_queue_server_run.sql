create or replace function _queue_server_run() returns bigint language sql volatile
    return (extract(epoch from greatest(pg_postmaster_start_time(),
        pg_stat_get_bgwriter_stat_reset_time())) * 1000000)::bigint;

comment on function _queue_server_run() is
$$Names the run of the server: another one after a start, after a failover, and after all sessions were lost in a crash,
since when its statistics count.
Result: a number, never 0.$$;
