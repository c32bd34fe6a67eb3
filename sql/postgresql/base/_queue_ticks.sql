create or replace function _queue_ticks() returns bigint language sql volatile as $$
    select (date_part('epoch', clock_timestamp()) * 1000000)::bigint;
$$;

comment on function _queue_ticks() is
$$The real time in microseconds since 1970-01-01 UTC, for measuring how long something takes; what a message's times are
compared with is queue_now(). A test that wants no scan to be slow lets it stand still.$$;
