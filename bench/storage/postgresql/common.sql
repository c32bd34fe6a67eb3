-- The clock every candidate reads: microseconds since 1970, the wall clock and not the transaction's start.
create schema if not exists common;
create or replace function common.now_us() returns bigint language sql volatile
    return (date_part('epoch', clock_timestamp()) * 1000000)::bigint;
-- What every message carries: about 120 bytes.
create or replace function common.payload(in_i bigint) returns jsonb language sql immutable
    return jsonb_build_object('i', in_i, 'to', 'someone@example.org', 'subject', 'A message of ordinary size', 'n', 42);
