-- calls: _queue_ticks
create or replace function _queue_effort() returns bigint language sql volatile as $$
    select case when current_setting('track_counts')::boolean then (
        pg_stat_get_xact_tuples_returned('delayed_queue_ready'::regclass)
        + pg_stat_get_xact_tuples_returned('delayed_queue_due'::regclass)) / 4
        + (pg_stat_get_xact_blocks_fetched('delayed_queue_ready'::regclass)
        + pg_stat_get_xact_blocks_fetched('delayed_queue_due'::regclass)) / 2 else _queue_ticks() end;
$$;

comment on function _queue_effort() is
$$What the scans of this transaction have cost so far, in microseconds of an idle machine, by what they read of the two
indexes that they walk: 1/4 for an entry, living or not, and 1/2 for a page. Only the difference of two calls means
something. A busy machine changes nothing in it, as it would in a time. Where the server counts nothing (track_counts),
it is one, and sessions keep a cursor sooner.
differs: MariaDB and MySQL count too much, or in too slow a place, so a scan is timed there.$$;
