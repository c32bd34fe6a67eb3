-- calls: _queue_boolean, _queue_check_batch, _queue_fail, _queue_integer, _queue_receipts, _queue_reserve,
--     _queue_text, queue_now
-- changes: queue_stream_part
drop procedure if exists _queue_stream_reserve;
delimiter $$
create procedure _queue_stream_reserve(in in_stream text collate exact, in in_batch bigint, in in_part int,
    in in_kind text collate exact, in in_max_messages int, in in_options longtext character set utf8mb4,
    out out_source text collate exact, out out_list longtext character set utf8mb4)
    comment 'queue_stream_reserve without its transaction.
The parameters and the errors are those of queue_stream_reserve. out_source: the read. out_list: what the
part holds: a JSON array of [entry, secret, place]; NULL: the batch is committed.
differs: on PostgreSQL it is a part of queue_stream_reserve.'
begin
    declare v_now, v_entry, v_plan, v_newest bigint;
    declare v_number int;
    declare v_sealed, v_follows, v_new boolean default false;
    declare v_options, v_receipts, v_entries longtext character set utf8mb4;
    declare v_seed varchar(64) character set ascii;
    declare continue handler for not found begin end;
    call _queue_check_batch('stream', in_stream, in_batch);
    if in_part >= 0 is not true then
        call _queue_fail('PQ001', 'part', in_part, 'must be 0 or more');
    end if;
    if json_type(if(json_valid(in_options), in_options, 'null')) = 'OBJECT' then
        call _queue_text(in_options, 'source', out_source);
        call _queue_integer(in_options, 'plan', 1, 9223372036854775807, v_plan);
        call _queue_boolean(in_options, 'follows', v_follows);
        set v_options = json_remove(in_options, '$.source', '$.plan', '$.follows');
    else
        set v_options = in_options;
    end if;
    set out_source = coalesce(out_source, concat(in_stream, '/', in_batch));
    if char_length(out_source) between 1 and 230 is not true then
        call _queue_fail('PQ002', 'source', out_source, 'must have 1 to 230 characters');
    end if;
    call queue_now(v_now);
    set out_list = null;
    if not exists (select 1 from queue_stage_done d where d.query = in_stream and d.batch >= in_batch) then
        if v_plan is not null then
            select l.plan, l.sealed into v_newest, v_sealed from queue_stream_plan l
                where l.source = out_source lock in share mode;
            if not v_newest <=> v_plan then
                call _queue_fail('PQ004', 'plan', v_plan, 'must be the newest of its source: another run reads it now');
            end if;
        end if;
        if not v_sealed and (coalesce(v_follows, false) = false or exists (
            select 1 from queue_stream_part b where b.source = out_source and b.part = in_part - 1
                and b.handed >= b.wanted)) then
            insert into queue_stream_part (source, part, stream, batch, wanted, begun_at)
            values (out_source, in_part, in_stream, in_batch, coalesce(in_max_messages, 1), v_now)
            on duplicate key update part = queue_stream_part.part;
            select p.receipts is null into v_new from queue_stream_part p
                where p.source = out_source and p.part = in_part for update;
        end if;
        if v_new then
            call _queue_reserve(in_kind, concat(left(in_stream, 160), '/', in_batch, '/', in_part), in_max_messages,
                v_options, v_entry, v_entries, v_seed);
            set v_entries = coalesce(v_entries, json_array(v_entry + 0));
            /*M!100600 set statement group_concat_max_len = 1000000000 for */
            select coalesce(json_arrayagg(s.receipt), '[]') into v_receipts
            from (
                select concat(q.entry, '-', lower(hex(q.secret))) as receipt
                from json_table(v_entries, '$[*]' columns (place for ordinality, entry bigint path '$')) j
                    straight_join delayed_queue q force index (primary) on q.entry = j.entry
                order by j.place limit 1000000000) s;
            update queue_stream_part p set p.receipts = v_receipts, p.handed = json_length(v_receipts)
            where p.source = out_source and p.part = in_part;
        else
            -- what somebody else has by now isn't handed out; it stays written down, since an earlier try may have had
            -- it
            select p.receipts into v_receipts from queue_stream_part p where p.source = out_source and p.part = in_part;
        end if;
        call _queue_receipts(coalesce(v_receipts, '[]'), out_list, v_number);
    end if;
end $$
delimiter ;
