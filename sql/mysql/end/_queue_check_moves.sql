-- calls: _queue_check_json, _queue_check_move, _queue_check_options, _queue_check_roles, _queue_fail,
--     _queue_move_options, _queue_receipts
drop procedure if exists _queue_check_moves;
delimiter $$
create procedure _queue_check_moves(in in_moves longtext character set utf8mb4,
    in in_options longtext character set utf8mb4, in in_now bigint, out out_list longtext character set utf8mb4,
    out out_number int)
    comment 'Refuses moves that queue_move_many doesn''t know.
in_moves, in_options: those of queue_move_many. in_now: the time of the call. out_list, out_number: their receipts, as
_queue_receipts answers them.
Errors: those of queue_move_many.
differs: on PostgreSQL it is a part of queue_move_many.'
begin
    declare v_bad, v_place int default 0;
    declare v_done boolean default false;
    declare v_to_kind text character set utf8mb4;
    declare v_move, v_receipts, v_options longtext character set utf8mb4;
    declare c cursor for
        select m.to_kind, m.move
        from json_table(in_moves, '$[*]'
            columns (to_kind text character set utf8mb4 path '$.to_kind', move json path '$')) m;
    if in_moves is null or length(in_moves) < 99 and in_moves regexp '^[[:space:]]*null[[:space:]]*$' then
        set in_moves = '[]';
    end if;
    call _queue_check_json(in_moves, 'PQ003', 'moves');
    call _queue_check_options(in_options, 'payload,headers,key,delay_seconds,priority,on_duplicate', 'options');
    if json_type(in_moves) = 'ARRAY' then
        select count(*) into v_bad from json_table(in_moves, '$[*]' columns (move json path '$')) m
        where coalesce(json_type(m.move), 'NULL') <> 'OBJECT';
    end if;
    if json_type(in_moves) <> 'ARRAY' or v_bad > 0 then
        call _queue_fail('PQ001', 'moves', in_moves, 'must be a JSON array of {receipt, to_kind, and move options}');
    end if;
    set v_receipts = coalesce(json_extract(in_moves, '$[*].receipt'), '[]');
    call _queue_receipts(v_receipts, out_list, out_number);
    if out_number <> json_length(in_moves) then
        call _queue_fail('PQ005', 'moves', in_moves, 'must have a receipt each');
    end if;
    open c;
    moves: loop
        begin
            declare continue handler for not found set v_done = true;
            fetch c into v_to_kind, v_move;
        end;
        if v_done then
            leave moves;
        end if;
        call _queue_move_options(in_options, v_move, v_options);
        call _queue_check_move(v_to_kind, v_options, in_now, concat('moves[', v_place, '].'));
        set v_place = v_place + 1;
    end loop;
    close c;
    call _queue_check_roles(json_extract(in_moves, '$[*].to_kind'));
end $$
delimiter ;
