create or replace function _queue_zone_offset(in_zone text, in_at bigint) returns bigint language sql volatile
    return extract(epoch from to_timestamp(in_at) at time zone in_zone)::bigint - in_at;

comment on function _queue_zone_offset(text, bigint) is
$$How far a zone is ahead of UTC.
in_zone: its name. in_at: when, in seconds since 1970-01-01 UTC.
Result: seconds.$$;
