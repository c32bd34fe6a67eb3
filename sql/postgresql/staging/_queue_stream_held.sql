create or replace function _queue_stream_held(in_source text, in_stream text, in_batch bigint,
    out entries bigint[], out secrets bytea[])
    language plpgsql set enable_seqscan = off as $$
begin
    select coalesce(array_agg(s.entry order by s.entry), '{}'), coalesce(array_agg(s.secret order by s.entry), '{}')
    into entries, secrets
    from (
        select left(e.receipt, -33)::bigint as entry, decode(right(e.receipt, 32), 'hex') as secret
        from (
            select p.receipts from queue_stream_part p where p.source = in_source
            union all
            select p.receipts from queue_stream_part p where p.stream = in_stream and p.batch = in_batch) h,
            jsonb_array_elements_text(h.receipts) e (receipt)) s;
end $$;

comment on function _queue_stream_held(text, text, bigint) is
$$What a read, or all reads of a batch, were handed out.
in_source: the read; or in_stream and in_batch: the batch; what isn't asked for is NULL.
Result: entries and secrets, in the order of the entries.$$;
