-- calls: _queue_fail
create procedure _queue_boolean(in in_options longtext, in in_option varchar(30), out out_value boolean)
    comment 'A boolean out of the options.
in_options: the options. in_option: its name.
Result: true or false; NULL where it isn''t given.
Errors: PQ002.'
begin
    declare v_value longtext default json_extract(in_options, concat('$.', in_option));
    declare v_type varchar(20) default json_type(v_value);
    set out_value = null;
    if v_type = 'BOOLEAN' then
        set out_value = v_value = 'true';
    elseif v_type <> 'NULL' then
        call _queue_fail('PQ002', in_option, json_unquote(v_value), 'must be true or false');
    end if;
end;
