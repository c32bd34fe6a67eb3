create procedure _queue_merge_options(in in_common longtext, in in_own longtext, out out_options longtext)
    comment 'The options of one of many: those for all, and its own, which win.
in_common: the options for all. in_own: its own, an object. out_options: the options; NULL for none.
differs: on PostgreSQL it is an operator. JSON_MERGE_PATCH would drop an option that is null.'
begin
    declare v_names longtext default json_keys(in_own);
    declare v_place int default 0;
    set out_options = in_own;
    if json_type(in_common) = 'OBJECT' then
        while in_common <> '{}' and v_place < json_length(v_names) do
            set in_common = json_remove(in_common, concat('$.', json_extract(v_names, concat('$[', v_place, ']')))),
                v_place = v_place + 1;
        end while;
        set out_options = json_merge_preserve(in_common, out_options);
    end if;
    if json_length(out_options) = 0 then
        set out_options = null;
    end if;
end;
