-- calls: _queue_check_json, _queue_check_move, _queue_check_options, _queue_check_roles, _queue_fail,
--     _queue_merge_options, _queue_move_many, _queue_receipts, queue_now
create procedure queue_move_many(in in_moves longtext, in in_options longtext)
    comment 'Moves many messages on, each to a kind of its own: queue_move for each, in one call and one transaction.
in_moves: a JSON array of at most 10000 objects {receipt, to_kind, and move options}; NULL: none. in_options: move
options for all; those of a move win.
Result: a row a move, in their order: receipt, outcome: moved, duplicate, lost; a receipt that stands twice is lost the
second time.
Errors: those of queue_move, naming the place as moves[0], moves[1], …; then nothing is moved.
Locks: as queue_move, all in the order of their entries.'
begin
    declare v_now bigint;
    declare v_number, v_place int;
    declare v_to_kind text collate exact;
    declare v_list, v_move, v_options, v_receipts longtext;
    declare v_outcomes longtext character set ascii;
    begin atomic
        declare a cursor for
            select m.to_kind, m.move
            from json_table(in_moves, '$[*]'
                columns (to_kind text path '$.to_kind', move json path '$')) m;
        call queue_now(v_now);
        call _queue_check_json(coalesce(in_moves, '[]'), 'PQ003', 'moves');
        call _queue_check_options(in_options, 'payload,headers,key,delay_seconds,priority,on_duplicate', 'options');
        set in_moves = if(json_type(in_moves) <> 'NULL', in_moves, '[]'), v_place = 0;
        if json_type(in_moves) <> 'ARRAY' or exists (
            select 1 from unnest(in_moves) m (move json) where coalesce(json_type(m.move), 'NULL') <> 'OBJECT') then
            call _queue_fail('PQ001', 'moves', in_moves,
                'must be a JSON array of {receipt, to_kind, and move options}');
        end if;
        set v_receipts = coalesce(json_extract(in_moves, '$[*].receipt'), '[]');
        call _queue_receipts(v_receipts, v_list, v_number);
        if v_number <> json_length(in_moves) then
            call _queue_fail('PQ005', 'moves', in_moves, 'must have a receipt each');
        end if;
        for each a into v_to_kind, v_move do
            call _queue_merge_options(in_options, json_remove(v_move, '$.receipt', '$.to_kind'), v_options);
            call _queue_check_move(v_to_kind, v_options, v_now, concat('moves[', v_place, '].'));
            set v_place = v_place + 1;
        end each;
        call _queue_check_roles(json_extract(in_moves, '$[*].to_kind'));
        call _queue_move_many(v_list, v_number, in_moves, in_options, v_now, v_outcomes);
    end atomic;
    select m.receipt, case substr(v_outcomes, m.place, 1) when 'm' then 'moved' when 'd' then 'duplicate'
        else 'lost' end
        as outcome
    from json_table(in_moves, '$[*]'
        columns (place for ordinality, receipt varchar(60) path '$.receipt')) m order by m.place;
end;
