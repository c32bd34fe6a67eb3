-- calls: _queue_fail
create procedure _queue_check_shape(in in_shape longtext, out out_shape longtext)
    comment 'Refuses what can''t be a payload_shape.
in_shape: the option.
Result: the shape, NULL for none.
Errors: PQ002.'
begin
    declare v_wrong int default 0;
    declare v_type varchar(20) default json_type(in_shape);
    set out_shape = null;
    if v_type = 'OBJECT' then
        select count(*) into v_wrong
            from json_table(in_shape, '$.*' columns (type varchar(20) collate exact path '$', value json path '$')) r
        where (json_type(r.value) = 'STRING'
            and r.type in ('string', 'number', 'integer', 'boolean', 'object', 'array')) is not true;
        set out_shape = in_shape;
    end if;
    if v_wrong > 0 or v_type not in ('OBJECT', 'NULL') then
        call _queue_fail('PQ002', 'payload_shape', in_shape,
            'must be an object of fields and their types: string, number, integer, boolean, object, array');
    end if;
end;
