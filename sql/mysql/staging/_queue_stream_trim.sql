-- changes: queue_stream_part
create procedure _queue_stream_trim(in in_source text collate exact, in in_stream text collate exact,
    in in_batch bigint, out out_lost bigint)
    comment 'Forgets the receipts of a read, or of all reads of a batch, that somebody else''s delivery or an end has
made void.
in_source: the read; or in_stream and in_batch: the batch; what isn''t asked for is NULL.
Result: how many.
Locks: the parts in which something was lost.
differs: the result is a parameter, out_lost.'
begin
    declare v_source varchar(230) collate exact;
    declare v_part int;
    declare v_old, v_receipts longtext;
    declare c cursor for
        select p.source, p.part, p.receipts from queue_stream_part p where p.source = in_source
        union all
        select p.source, p.part, p.receipts from queue_stream_part p where p.stream = in_stream and p.batch = in_batch;
    set out_lost = 0;
    for each c into v_source, v_part, v_old do
        select coalesce(json_arrayagg(s.receipt), '[]') into v_receipts
        from (
            select r.receipt
            from unnest(v_old) r (place for ordinality, receipt varchar(60))
                straight_join delayed_queue q force index (primary)
                    on q.entry = cast(left(r.receipt, char_length(r.receipt) - 33) as signed)
                        and q.secret = unhex(right(r.receipt, 32))
            where q.reserved_by is not null
            order by r.place limit 1000000000) s;
        if json_length(v_receipts) < json_length(v_old) then
            set out_lost = out_lost + json_length(v_old) - json_length(v_receipts);
            update queue_stream_part p set p.receipts = v_receipts where p.source = v_source and p.part = v_part;
        end if;
    end each;
end;
