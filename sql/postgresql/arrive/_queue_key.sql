create or replace function _queue_key(in_now bigint) returns text language sql volatile
    return overlay(lpad(to_hex(in_now / 1000), 12, '0') placing '-' from 9 for 0)
        || '-7' || lpad(to_hex(in_now % 1000 * 4096 / 1000), 3, '0')
        || '-' || substr(gen_random_uuid()::text, 20);

comment on function _queue_key(bigint) is
$$A key for a message that came without: a UUID of version 7, so that new keys stand at the end of the index.
in_now: the time of the call.
Result: the UUID; its order is that of the microseconds, then random.
Where the idea comes from: RFC 9562, section 6.2, method 3.$$;
