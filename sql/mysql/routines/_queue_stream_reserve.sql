drop procedure if exists _queue_stream_reserve;
delimiter $$
create procedure _queue_stream_reserve(in in_stream text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_batch bigint, in in_part int,
    in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_max_messages int, in in_options longtext character set utf8mb4, out out_list longtext character set utf8mb4)
    comment 'queue_stream_reserve without its transaction.
The parameters and the errors are those of queue_stream_reserve. out_list: what the part holds: a JSON array of [entry, secret, place].
differs: on PostgreSQL it is a part of queue_stream_reserve.'
begin
    declare v_now, v_entry bigint;
    declare v_number int;
    declare v_done boolean default false;
    declare v_receipts, v_entries longtext character set utf8mb4;
    declare v_seed varchar(64) character set ascii;
    declare continue handler for not found begin end;
    call _queue_check_batch('stream', in_stream, in_batch);
    if in_part >= 0 is not true then
        call _queue_fail('PQ001', 'part', in_part, 'must be 0 or more');
    end if;
    call queue_now(v_now);
    select true into v_done from queue_stage_done d where d.query = in_stream and d.batch >= in_batch;
    set v_receipts = '[]';
    if not v_done then
        insert into queue_stream_part (stream, batch, part, begun_at) values (in_stream, in_batch, in_part, v_now)
        on duplicate key update part = queue_stream_part.part;
        select p.receipts into v_receipts from queue_stream_part p
        where p.stream = in_stream and p.batch = in_batch and p.part = in_part for update;
        if v_receipts is null then
            call _queue_reserve(in_kind, concat(left(in_stream, 160), '/', in_batch, '/', in_part), in_max_messages, in_options,
                v_entry, v_entries, v_seed);
            set v_entries = coalesce(v_entries, json_array(v_entry + 0));
        else -- what somebody else has by now is none of the batch's any more
            call _queue_receipts(v_receipts, v_entries, v_number);
            /*M!100600 set statement group_concat_max_len = 1000000000 for */
            select coalesce(json_arrayagg(q.entry), '[]') into v_entries
            from json_table(v_entries, '$[*]' columns (entry bigint path '$[0]', secret char(32) character set utf8mb4 path '$[1]')) r
                straight_join delayed_queue q force index (primary) on q.entry = r.entry and q.secret = unhex(r.secret);
        end if;
        /*M!100600 set statement group_concat_max_len = 1000000000 for */
        select coalesce(json_arrayagg(s.receipt), '[]') into v_receipts
        from (
            select concat(q.entry, '-', lower(hex(q.secret))) as receipt
            from json_table(v_entries, '$[*]' columns (place for ordinality, entry bigint path '$')) j
                straight_join delayed_queue q force index (primary) on q.entry = j.entry
            order by j.place limit 1000000000) s;
        update queue_stream_part p set p.receipts = v_receipts
        where p.stream = in_stream and p.batch = in_batch and p.part = in_part;
    end if;
    call _queue_receipts(v_receipts, out_list, v_number);
end $$
delimiter ;
