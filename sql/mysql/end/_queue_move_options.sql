create procedure _queue_move_options(in in_common longtext character set utf8mb4,
    in in_move longtext character set utf8mb4, out out_options longtext character set utf8mb4)
    comment 'The options of one move of queue_move_many: those for all, and those of the move, which win.
in_common: the options for all. in_move: the move, an object. out_options: the options; NULL for none.
differs: on PostgreSQL it is an operator. JSON_MERGE_PATCH would drop an option that is null.'
begin
    declare v_names longtext character set utf8mb4;
    declare v_place int default 0;
    set out_options = json_remove(in_move, '$.receipt', '$.to_kind');
    if json_type(in_common) = 'OBJECT' then
        set v_names = json_keys(out_options);
        while v_place < json_length(v_names) do
            set in_common = json_remove(in_common, concat('$.', json_extract(v_names, concat('$[', v_place, ']'))));
            set v_place = v_place + 1;
        end while;
        set out_options = json_merge_preserve(in_common, out_options);
    end if;
    if json_length(out_options) = 0 then
        set out_options = null;
    end if;
end;
