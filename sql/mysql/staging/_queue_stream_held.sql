create procedure _queue_stream_held(in in_source text collate exact, in in_stream text collate exact,
    in in_batch bigint, out out_list longtext, out out_number int)
    comment 'What a read, or all reads of a batch, were handed out.
in_source: the read; or in_stream and in_batch: the batch; what isn''t asked for is NULL.
out_list: a JSON array of [entry, secret], in the order of the entries. out_number: how many.
Locks: the parts, since an old snapshot may not have them.'
begin
    select coalesce(json_arrayagg(json_array(s.entry, s.secret)), '[]'), count(*) into out_list, out_number
    from (
        select cast(left(r.receipt, char_length(r.receipt) - 33) as signed) as entry, right(r.receipt, 32) as secret
        from (
            (select p.receipts from queue_stream_part p where p.source = in_source for update)
            union all
            (select p.receipts from queue_stream_part p where p.stream = in_stream and p.batch = in_batch for update)) h
            straight_join unnest(h.receipts) r (receipt varchar(60))
        order by 1 limit 1000000000) s;
end;
