create or replace function _queue_key_behind(in_key text, in_number bigint) returns text language sql immutable
    return left(in_key, 24)
        || lpad(to_hex((('x' || right(in_key, 12))::bit(48)::bigint + in_number) % 281474976710656), 12, '0');

comment on function _queue_key_behind(text, bigint) is
$$A key of a batch whose messages came without: one behind another, in the order of the batch.
in_key: what _queue_key has made for the call. in_number: how many places behind it.
Result: a UUID, like that one but for its last 48 bits.
Where the idea comes from: RFC 9562, section 6.2, method 2.
differs: on MariaDB and MySQL it is a part of queue_push_many.$$;
