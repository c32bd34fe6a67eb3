-- calls: _queue_fail
create procedure _queue_check_headers(in in_headers longtext, in in_name varchar(100), out out_headers longtext)
    comment 'Refuses headers that are no object of scalars.
in_headers: the headers. in_name: the parameter''s name for the message.
Result: the headers, NULL where there are none.
Errors: PQ003.'
begin
    declare v_nested int default 0;
    declare v_type varchar(20) default json_type(in_headers);
    set out_headers = null;
    if v_type = 'OBJECT' then
        select count(*) into v_nested from json_table(in_headers, '$.*' columns (value json path '$')) r
        where json_type(r.value) in ('OBJECT', 'ARRAY');
    end if;
    if v_nested > 0 or v_type not in ('OBJECT', 'NULL') then
        call _queue_fail('PQ003', in_name, in_headers, 'must be a JSON object with scalar values');
    elseif v_type = 'OBJECT' and json_length(in_headers) > 0 then
        set out_headers = in_headers;
    end if;
end;
