-- calls: _queue_key
create or replace function _queue_add_keys(in_messages jsonb, in_now bigint) returns jsonb language plpgsql as $$
declare
    v_key constant text := _queue_key(in_now);
    v_first constant bigint := ('x' || right(v_key, 12))::bit(48)::bigint;
begin
    return (
        select jsonb_agg(case
            when jsonb_typeof(m.message) = 'object' and coalesce(m.message -> 'key', 'null') = 'null'
            then m.message || jsonb_build_object('key',
                left(v_key, 24) || lpad(to_hex((v_first + m.n) % 281474976710656), 12, '0'))
            else m.message end order by m.n)
        from jsonb_array_elements(in_messages) with ordinality m (message, n));
end $$;

comment on function _queue_add_keys(jsonb, bigint) is
$$A key for each message of a batch that came without, one behind another in the order of the batch.
in_messages: those of queue_push_many, an array. in_now: the time of the call.
Result: the messages; what is no object is left as it is.
Where the idea comes from: RFC 9562, section 6.2, method 2.$$;
