-- calls: _queue_check_nack, _queue_fail, _queue_nack
create procedure _queue_stream_fail(in in_failed longtext, in in_stream text collate exact, in in_batch bigint,
    in in_now bigint, out out_failed bigint)
    comment 'Gives back what failed of a batch. A receipt that is held by nobody any more is left out.
in_failed: a JSON array of {receipt, and options of queue_nack}. in_stream, in_batch: the batch. in_now: the time of the
call.
out_failed: how many.
Errors: PQ002, PQ005.
Locks: as _queue_nack.'
begin
    declare v_bad, v_options longtext;
    declare v_entry bigint;
    declare v_secret binary(16);
    declare v_outcome varchar(10);
    declare v_others boolean;
    declare c cursor for -- dead letters are put in in the order of their keys, as everywhere
        select r.receipt, q.entry, q.secret, r.options, b.receipt is null
        from (
            select f.receipt, cast(left(f.receipt, char_length(f.receipt) - 33) as signed) as entry,
                right(f.receipt, 32) as secret, json_remove(f.one, '$.receipt') as options
            from json_table(in_failed, '$[*]'
                columns (one json path '$', receipt varchar(60) path '$.receipt')) f
            limit 1000000000) r
            straight_join delayed_queue q force index (primary) on q.entry = r.entry and q.secret = unhex(r.secret)
            left join (
                select h.receipt from queue_stream_part p
                    straight_join unnest(p.receipts) h (receipt varchar(60))
                where p.stream = in_stream and p.batch = in_batch limit 1000000000 for update of p) b
                on b.receipt = r.receipt
        order by q.p_key, q.p_kind for update of q;
    if json_valid(in_failed) is not true or json_type(in_failed) <> 'ARRAY' or exists (
        select 1 from unnest(in_failed) f (one json) where json_type(f.one) <> 'OBJECT')
            then
        call _queue_fail('PQ002', 'failed', in_failed, 'must be a JSON array of {receipt, and options of queue_nack}');
    end if;
    select min(coalesce(f.receipt, 'null')) into v_bad
    from json_table(in_failed, '$[*]' columns (receipt longtext path '$.receipt')) f
    where _queue_is_receipt(f.receipt) is not true;
    if v_bad is not null then
        call _queue_fail('PQ005', 'failed', v_bad, 'must be what queue_stream_reserve answered');
    end if;
    set out_failed = 0;
    for each c into v_bad, v_entry, v_secret, v_options, v_others do
        if v_others then
            call _queue_fail('PQ005', 'failed', v_bad, 'must be what queue_stream_reserve answered for this batch');
        end if;
        call _queue_check_nack(v_options);
        call _queue_nack(v_entry, v_secret, v_options, in_now, v_outcome);
        set out_failed = out_failed + (v_outcome <> 'lost');
    end each;
end;
