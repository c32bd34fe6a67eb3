-- calls: _queue_check_json, _queue_check_name, _queue_fail
create procedure _queue_check_kinds(in in_kinds longtext, out out_kinds longtext)
    comment 'The kinds that a consumer names.
in_kinds: a JSON array of 1 to 100 kinds, or one kind as a JSON string.
Result: the kinds, in their order.
Errors: PQ001.
differs: the result is a parameter, out_kinds, a JSON array.'
begin
    declare v_place int default 0;
    declare v_kind longtext collate exact;
    declare v_number int default -1;
    if in_kinds is not null then
        call _queue_check_json(in_kinds, 'PQ001', 'kinds');
        set out_kinds = if(json_type(in_kinds) = 'STRING', concat('[', in_kinds, ']'), in_kinds);
        set v_number = if(json_type(out_kinds) = 'ARRAY', json_length(out_kinds), -1);
    end if;
    while v_place < v_number do
        set v_kind = json_extract(out_kinds, concat('$[', v_place, ']'));
        if json_type(v_kind) = 'STRING' then
            set v_kind = json_unquote(v_kind);
            call _queue_check_name(v_kind, 100, concat('kinds[', v_place, ']'));
        else
            set v_number = -1;
        end if;
        set v_place = v_place + 1;
    end while;
    if v_number not between 1 and 100 then
        call _queue_fail('PQ001', 'kinds', in_kinds, 'must be a kind or a JSON array of 1 to 100 kinds');
    end if;
end;
