-- calls: _queue_ack, _queue_ack_many, _queue_check_options, _queue_fail, _queue_reserve, _queue_slot_end, _queue_text
-- changes: queue_count
drop procedure if exists _queue_next;
delimiter $$
create procedure _queue_next(in in_receipts longtext character set utf8mb4, in in_kind text collate exact,
    in in_worker text collate exact, in in_max_messages int, in in_options longtext character set utf8mb4,
    out out_entry bigint, out out_entries longtext character set utf8mb4, out out_seed varchar(64) character set ascii)
    comment 'queue_next without its transaction.
in_receipts, in_kind, in_worker, in_max_messages, in_options, and the errors: those of queue_next. out_entry,
out_entries, out_seed: see _queue_reserve.'
begin
    declare v_options, v_lost, v_names longtext character set utf8mb4;
    declare v_outcomes longtext character set ascii;
    declare v_outcome varchar(10) character set utf8mb4;
    declare v_number int default 0;
    if in_options is not null then
        call _queue_check_options(in_options, 'timeout_seconds,where,lost', 'options');
        call _queue_text(in_options, 'lost', v_lost);
        if v_lost <> 'error' then
            call _queue_fail('PQ002', 'lost', v_lost, 'must be error');
        end if;
        set v_options = if(json_type(in_options) = 'OBJECT', json_remove(in_options, '$.lost'), null);
        if json_length(v_options) = 0 then
            set v_options = null;
        end if;
    end if;
    if in_receipts collate utf8mb4_bin regexp '^\\["[0-9]{1,18}-[0-9a-f]{32}"\\]\\z' then -- most calls
        call _queue_ack(substr(in_receipts, 3, char_length(in_receipts) - 4), null, v_outcome);
        set v_number = v_outcome = 'lost', v_outcomes = if(v_number, 'l', 'a');
    elseif in_receipts is not null then
        call _queue_ack_many(in_receipts, null, v_outcomes);
        set v_number = length(v_outcomes) - length(replace(v_outcomes, 'l', ''));
    end if;
    if v_number > 0 and v_lost is not null then
        select group_concat(l.receipt order by l.place separator ', ') into v_names
        from (
            select r.place, r.receipt
            from json_table(in_receipts, '$[*]'
                columns (place for ordinality, receipt varchar(60) character set utf8mb4 path '$')) r
            where substr(v_outcomes, r.place, 1) = 'l' order by r.place limit 5) l; -- an error has no room for more
        call _queue_fail('PQ006', 'receipts', v_names, 'lost, so nothing was done');
    end if;
    if @pyqueue_slot_names is not null then
        call _queue_slot_end();
        set @pyqueue_slot_held = true; -- to wait for others now could be a deadlock
    end if;
    call _queue_reserve(in_kind, in_worker, in_max_messages, v_options, out_entry, out_entries, out_seed);
    if v_number > 0 then
        insert into queue_count (id, p_kind, lost) values (uuid_short(), in_kind, v_number);
    end if;
end $$
delimiter ;
