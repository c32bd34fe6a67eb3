-- calls: _queue_check_nack, _queue_fail, _queue_is_receipt, _queue_nack, _queue_permits_note
create or replace function _queue_stream_fail(in_failed jsonb, in_stream text, in_batch bigint,
    in_now bigint) returns bigint
    language plpgsql set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_failed bigint := 0;
    v_entries bigint[] := '{}';
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
        with f as materialized (
            select e.one ->> 'receipt' as receipt, left(e.one ->> 'receipt', -33)::bigint as entry,
                decode(right(e.one ->> 'receipt', 32), 'hex') as secret, e.one - 'receipt' as options
            from jsonb_array_elements(in_failed) e (one)),
        o as materialized ( -- of others, if anybody's
            select f.receipt from f
            except
            select e.receipt from queue_stream_part p, jsonb_array_elements_text(p.receipts) e (receipt)
            where p.stream = in_stream and p.batch = in_batch)
        select f.*, f.receipt in (select o.receipt from o) as is_of_others
        from f join delayed_queue q on q.entry between f.entry and f.entry and q.secret = f.secret
        order by q.p_key, q.p_kind
    loop
        if v_one.is_of_others then
            perform _queue_fail('PQ005', 'failed', v_one.receipt,
                'must be what queue_stream_reserve answered for this batch');
        end if;
        perform _queue_check_nack(v_one.options);
        if _queue_nack(v_one.entry, v_one.secret, v_one.options, in_now) <> 'lost' then
            v_failed := v_failed + 1;
            v_entries := v_entries || v_one.entry;
        end if;
    end loop;
    perform _queue_permits_note(v_entries);
    return v_failed;
end $$;

comment on function _queue_stream_fail(jsonb, text, bigint, bigint) is
$$Gives back what failed of a batch. A receipt that is held by nobody any more is left out.
in_failed: a JSON array of {receipt, and options of queue_nack}. in_stream, in_batch: the batch. in_now: the time of the
call.
Result: how many. At its end the caller has _queue_members_settle and _queue_permits_settle see to the rest.
Errors: PQ002, PQ005.
Locks: as _queue_nack.$$;
