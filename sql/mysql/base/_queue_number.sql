-- calls: _queue_fail
create procedure _queue_number(in in_options longtext, in in_option varchar(30), in in_least decimal(30,6),
    in in_most decimal(30,6), out out_value decimal(30,6))
    comment 'A number out of the options.
in_options: the options. in_option: its name. in_least, in_most: the range allowed.
Result: the number; NULL where it isn''t given.
Errors: PQ002.
differs: a number has six places at the most, which are microseconds.'
begin
    declare v_value longtext default json_extract(in_options, concat('$.', in_option));
    declare v_type varchar(20) default json_type(v_value);
    set out_value = null;
    if v_type <> 'NULL' then
        if v_type not in ('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL') or v_value + 0e0 < in_least
            or v_value + 0e0 > in_most then
            call _queue_fail('PQ002', in_option, json_unquote(v_value), concat('must be a number from ',
                trim(trailing '.' from trim(trailing '0' from in_least)), ' to ',
                trim(trailing '.' from trim(trailing '0' from in_most))));
        end if;
        set out_value = round(cast(v_value as decimal(60,30)), 6);
    end if;
end;
