-- calls: _queue_check_nack, _queue_fail, _queue_is_receipt, _queue_nack
create or replace function _queue_stream_fail(in_failed jsonb, in_now bigint) returns bigint
    language plpgsql set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_failed bigint := 0;
    v_bad text;
    v_one record;
begin
    if in_failed is null or jsonb_typeof(in_failed) <> 'array' or in_failed @? '$[*] ? (@.type() != "object")' then
        perform _queue_fail('PQ002', 'failed', in_failed::text,
            'must be a JSON array of {receipt, and options of queue_nack}');
    end if;
    select e.one ->> 'receipt' into v_bad from jsonb_array_elements(in_failed) e (one)
    where _queue_is_receipt(e.one ->> 'receipt') is not true limit 1;
    if found then
        perform _queue_fail('PQ005', 'failed', v_bad, 'must be what queue_stream_reserve answered');
    end if;
    for v_one in -- dead letters are put in in the order of their keys, as everywhere
        select f.entry, f.secret, f.options
        from (
            select left(e.one ->> 'receipt', -33)::bigint as entry,
                decode(right(e.one ->> 'receipt', 32), 'hex') as secret, e.one - 'receipt' as options
            from jsonb_array_elements(in_failed) e (one)) f
        join delayed_queue q on q.entry between f.entry and f.entry and q.secret = f.secret
        order by q.p_key, q.p_kind
    loop
        perform _queue_check_nack(v_one.options);
        v_failed := v_failed + (_queue_nack(v_one.entry, v_one.secret, v_one.options, in_now) <> 'lost')::integer;
    end loop;
    return v_failed;
end $$;

comment on function _queue_stream_fail(jsonb, bigint) is
$$Gives back what failed of a batch.
in_failed: a JSON array of {receipt, and options of queue_nack}. in_now: the time of the call.
Result: how many.
Errors: PQ002, PQ005.
Locks: as _queue_nack.$$;
