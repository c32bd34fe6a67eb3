create or replace function queue_timestamp(in_time bigint) returns timestamptz
    language sql immutable strict parallel safe return timestamptz '1970-01-01 00:00:00+00'
        + (in_time / 1000000) * interval '1 second' + (in_time % 1000000) * interval '1 microsecond';

comment on function queue_timestamp(bigint) is
$$The queue's integer as a timestamp.
in_time: microseconds since 1970-01-01 UTC.
Result: a timestamp with time zone; NULL for NULL.$$;
