-- calls: _queue_fail
drop procedure if exists _queue_route;
delimiter $$
create procedure _queue_route(in in_options longtext character set utf8mb4,
    out out_route longtext character set utf8mb4)
    comment 'The route of a push, checked.
in_options: those of a push.
Result: the kinds it goes to, an array; NULL: none.
Errors: PQ002.
differs: the result is out_route.'
begin
    declare v_bad int default 0;
    set out_route = json_extract(in_options, '$.route');
    if json_type(out_route) = 'NULL' then
        set out_route = null;
    elseif json_type(out_route) = 'ARRAY' then
        select count(*) into v_bad from json_table(out_route, '$[*]' columns (kind json path '$')) r
        where json_type(r.kind) <> 'STRING' or char_length(json_unquote(r.kind)) not between 1 and 95;
    end if;
    if json_type(out_route) <> 'ARRAY' or json_length(out_route) > 32 or v_bad > 0 then
        call _queue_fail('PQ002', 'route', out_route, 'must be an array of at most 32 kinds of 1 to 95 characters');
    elseif json_length(out_route) = 0 then
        set out_route = null;
    end if;
end $$
delimiter ;
