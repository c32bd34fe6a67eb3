-- calls: _queue_ack_many, _queue_batch_done, _queue_boolean, _queue_check_batch, _queue_check_options, _queue_fail,
--     _queue_lock, _queue_stage_put, _queue_stream_fail, _queue_stream_held, _queue_text, queue_now
-- changes: queue_stream_kept, queue_stream_part, queue_stream_plan
drop procedure if exists _queue_stream_commit;
delimiter $$
create procedure _queue_stream_commit(in in_stream text collate exact, in in_batch bigint,
    in in_options longtext character set utf8mb4, out out_new boolean, out out_acked bigint, out out_failed bigint,
    out out_lost bigint, out out_published bigint, out out_pushed bigint, out out_differing bigint)
    comment 'queue_stream_commit without its transaction.
in_stream, in_batch, in_options, the errors and the locks: those of queue_stream_commit. out_new: whether it wasn''t
committed before.
out_acked, out_failed, out_lost, out_published, out_pushed, out_differing: its result.'
begin
    declare v_now bigint;
    declare v_whole, v_keep, v_done boolean default false;
    declare v_number int;
    declare v_list, v_receipts longtext character set utf8mb4;
    declare v_run, v_job text collate exact;
    declare v_outcomes longtext character set ascii;
    declare c cursor for
        select p.receipts from queue_stream_part p where p.stream = in_stream and p.batch = in_batch
            order by p.source, p.part;
    call _queue_check_batch('stream', in_stream, in_batch);
    call _queue_check_options(in_options, 'parts,failed,whole,keep,run,job,refused', 'options');
    call _queue_boolean(in_options, 'whole', v_whole);
    call _queue_boolean(in_options, 'keep', v_keep);
    call queue_now(v_now);
    call _queue_text(in_options, 'run', v_run);
    call _queue_text(in_options, 'job', v_job);
    call _queue_batch_done(in_stream, in_batch, v_now, v_run, v_job, out_new);
    set out_acked = 0, out_failed = 0, out_lost = 0, out_published = 0, out_pushed = 0, out_differing = 0;
    if out_new then
        call _queue_stream_held(null, in_stream, in_batch, v_list, v_number);
        call _queue_lock(v_list);
        if v_keep then
            insert into queue_stream_kept
            select p.source, p.part, r.place, in_stream, in_batch, v_now, q.p_kind, q.p_key, q.payload, q.payload_bytes,
                q.headers, q.priority, q.scheduled_at, q.scheduled_at_initially, q.created_at, q.reserved_at,
                q.attempts, q.reserved_by, r.receipt, q.errors
            from queue_stream_part p
                straight_join json_table(p.receipts, '$[*]'
                    columns (place for ordinality, receipt varchar(60) character set utf8mb4 path '$')) r
                straight_join delayed_queue q force index (primary)
                    on q.entry = cast(left(r.receipt, char_length(r.receipt) - 33) as signed)
                        and q.secret = unhex(right(r.receipt, 32))
            where p.stream = in_stream and p.batch = in_batch;
        end if;
        delete k from queue_stream_kept k where k.stream = in_stream and k.batch < in_batch;
        if json_contains_path(in_options, 'one', '$.parts') then
            call _queue_stage_put(json_extract(in_options, '$.parts'), in_stream, in_batch, in_options, out_published,
                out_pushed, out_differing);
        end if;
        if json_contains_path(in_options, 'one', '$.failed') then
            call _queue_stream_fail(json_extract(in_options, '$.failed'), v_now, out_failed);
        end if;
        open c;
        parts: loop
            begin
                declare continue handler for not found set v_done = true;
                fetch c into v_receipts;
            end;
            if v_done then
                leave parts;
            end if;
            call _queue_ack_many(coalesce(v_receipts, '[]'), null, v_outcomes);
            set out_acked = out_acked + char_length(replace(v_outcomes, 'l', ''));
        end loop;
        close c;
        set out_lost = v_number - out_acked - out_failed;
        if v_whole and out_lost > 0 then
            call _queue_fail('PQ004', 'batch', in_batch,
                concat(out_lost, ' of its messages are no longer held for it'));
        end if;
        delete l from queue_stream_part p straight_join queue_stream_plan l on l.source = p.source
        where p.stream = in_stream and p.batch <= in_batch;
        delete p from queue_stream_part p where p.stream = in_stream and p.batch <= in_batch;
    end if;
end $$
delimiter ;
