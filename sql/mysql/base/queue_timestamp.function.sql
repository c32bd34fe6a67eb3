create function queue_timestamp(in_time bigint) returns datetime(6)
    deterministic no sql
    comment 'The queue''s integer as a timestamp.
in_time: microseconds since 1970-01-01 UTC.
Result: a timestamp with time zone; NULL for NULL.
differs: a datetime has no zone: the result is UTC.'
return timestampadd(microsecond, in_time, timestamp '1970-01-01 00:00:00.000000');
