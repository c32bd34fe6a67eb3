-- calls: _queue_fail, _queue_number
create procedure _queue_integer(in in_options longtext, in in_option varchar(30), in in_least bigint, in in_most bigint,
    out out_value bigint)
    comment 'A whole number out of the options.
in_options: the options. in_option: its name. in_least, in_most: the range allowed.
Result: the number; NULL where it isn''t given.
Errors: PQ002.'
begin
    declare v_value decimal(30,6);
    call _queue_number(in_options, in_option, in_least, in_most, v_value);
    -- a JSON null is no number for MySQL: v_value is NULL then
    if v_value <> truncate(v_value, 0)
        or if(v_value is null, false, json_extract(in_options, concat('$.', in_option)) + 0e0 <> v_value) then
        call _queue_fail('PQ002', in_option, json_unquote(json_extract(in_options, concat('$.', in_option))),
            'must be a whole number');
    end if;
    set out_value = v_value;
end;
