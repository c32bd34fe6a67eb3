create or replace function queue_time(in_timestamp timestamptz) returns bigint
    language sql immutable strict parallel safe return (extract(epoch from in_timestamp) * 1000000)::bigint;

comment on function queue_time(timestamptz) is
$$A timestamp as the queue's integer.
in_timestamp: any timestamp with time zone.
Result: microseconds since 1970-01-01 UTC; NULL for NULL.$$;
