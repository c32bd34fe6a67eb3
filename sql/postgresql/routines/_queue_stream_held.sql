create or replace function _queue_stream_held(in_stream text, in_batch bigint, out entries bigint[], out secrets bytea[])
    language plpgsql as $$
begin
    select coalesce(array_agg(s.entry order by s.entry), '{}'), coalesce(array_agg(s.secret order by s.entry), '{}')
    into entries, secrets
    from (
        select left(e.receipt, -33)::bigint as entry, decode(right(e.receipt, 32), 'hex') as secret
        from queue_stream_part p, jsonb_array_elements_text(p.receipts) e (receipt)
        where p.stream = in_stream and p.batch = in_batch) s;
end $$;

comment on function _queue_stream_held(text, bigint) is
$$What a batch has reserved.
in_stream, in_batch: those of queue_stream_reserve.
Result: entries and secrets, in the order of the entries.$$;
