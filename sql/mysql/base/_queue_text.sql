-- calls: _queue_fail
create procedure _queue_text(in in_options longtext, in in_option varchar(30), out out_value longtext)
    comment 'A string out of the options.
in_options: the options. in_option: its name.
Result: the string; NULL where it isn''t given.
Errors: PQ002.'
begin
    declare v_value longtext default json_extract(in_options, concat('$.', in_option));
    declare v_type varchar(20) default json_type(v_value);
    set out_value = null;
    if v_type = 'STRING' then
        set out_value = json_unquote(v_value);
    elseif v_type <> 'NULL' then
        call _queue_fail('PQ002', in_option, json_unquote(v_value), 'must be a string');
    end if;
end;
