create function queue_time(in_timestamp datetime(6)) returns bigint
    deterministic no sql
    comment 'A timestamp as the queue''s integer.
in_timestamp: any timestamp with time zone.
Result: microseconds since 1970-01-01 UTC; NULL for NULL.
differs: a datetime has no zone: in_timestamp is UTC.'
return timestampdiff(microsecond, '1970-01-01 00:00:00', in_timestamp);
