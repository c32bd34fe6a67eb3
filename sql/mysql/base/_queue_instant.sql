-- calls: _queue_fail, _queue_iso
create procedure _queue_instant(in in_options longtext character set utf8mb4,
    in in_option varchar(30) character set utf8mb4, out out_time bigint)
    comment 'A time out of the options: microseconds since 1970, or ISO 8601 with an offset; a value under 10^14 is
refused, so that nobody''s seconds pass for microseconds.
in_options: the options. in_option: its name.
Result: microseconds since 1970; NULL where it isn''t given.
Errors: PQ002.
differs: the result is out_time.'
begin
    declare v_at longtext character set utf8mb4 default json_extract(in_options, concat('$.', in_option));
    declare v_type varchar(20) character set utf8mb4 default json_type(v_at);
    set out_time = null;
    if coalesce(v_type, 'NULL') <> 'NULL' then
        if v_type = 'STRING' then
            call _queue_iso(json_unquote(v_at), out_time);
        elseif v_type in ('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL') and abs(v_at + 0e0) < 1e18
            and v_at + 0e0 = floor(v_at + 0e0) then
            set out_time = cast(v_at as decimal(60,30));
        end if;
        -- up to the last microsecond of the year 9999
        if out_time is null or out_time < 100000000000000 or out_time > 253402300799999999 then
            call _queue_fail('PQ002', in_option, json_unquote(v_at),
                'must be microseconds since 1970 (10^14 or more) or ISO 8601 with an offset');
        end if;
    end if;
end;
