-- changes: queue_stream_part
create or replace function _queue_stream_trim(in_source text, in_stream text, in_batch bigint) returns bigint
    language plpgsql set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_part record;
    v_receipts jsonb;
    v_lost bigint := 0;
begin
    for v_part in
        select p.source, p.part, p.receipts from queue_stream_part p where p.source = in_source
        union all
        select p.source, p.part, p.receipts from queue_stream_part p where p.stream = in_stream and p.batch = in_batch
    loop
        select coalesce(jsonb_agg(e.receipt order by e.place), '[]') into v_receipts
        from jsonb_array_elements_text(v_part.receipts) with ordinality e (receipt, place),
            lateral (select left(e.receipt, -33)::bigint as entry, decode(right(e.receipt, 32), 'hex') as secret) r,
            delayed_queue q
        where q.entry between r.entry and r.entry and q.secret = r.secret and q.reserved_by is not null;
        if v_receipts <> v_part.receipts then
            v_lost := v_lost + jsonb_array_length(v_part.receipts) - jsonb_array_length(v_receipts);
            update queue_stream_part p set receipts = v_receipts
                where p.source = v_part.source and p.part = v_part.part;
        end if;
    end loop;
    return v_lost;
end $$;

comment on function _queue_stream_trim(text, text, bigint) is
$$Forgets the receipts of a read, or of all reads of a batch, that somebody else's delivery or an end has made void.
in_source: the read; or in_stream and in_batch: the batch; what isn't asked for is NULL.
Result: how many.
Locks: the parts in which something was lost.$$;
