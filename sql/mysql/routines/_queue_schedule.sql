drop procedure if exists _queue_schedule;
delimiter $$
create procedure _queue_schedule(in in_options longtext character set utf8mb4, in in_now bigint, out out_scheduled_at bigint)
    comment 'The delivery time that the options ask for.
in_options: delay_seconds (0 or more), or scheduled_at (microseconds since 1970, or ISO 8601 with an offset; a value under
10^14 is refused, so that nobody''s seconds pass for microseconds). in_now: the time of the call.
Result: microseconds since 1970; in_now where neither is given.
Errors: PQ002.'
begin
    declare v_most bigint default 253402300799999999; -- the last microsecond of the year 9999
    declare v_at longtext character set utf8mb4 default json_extract(in_options, '$.scheduled_at');
    declare v_type varchar(20) character set utf8mb4 default json_type(v_at);
    declare v_delay decimal(30,6);
    declare v_time bigint;
    call _queue_number(in_options, 'delay_seconds', 0, 253402300799, v_delay);
    if coalesce(v_type, 'NULL') = 'NULL' then
        set v_time = in_now + coalesce(v_delay, 0) * 1000000;
        if v_time > v_most then
            call _queue_fail('PQ002', 'delay_seconds', json_unquote(json_extract(in_options, '$.delay_seconds')),
                'must end before the year 10000');
        end if;
    elseif v_delay is not null then
        call _queue_fail('PQ002', 'scheduled_at', json_unquote(v_at), 'must not stand beside delay_seconds');
    elseif v_type = 'STRING' then
        call _queue_iso(json_unquote(v_at), v_time);
    elseif v_type in ('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL') and abs(v_at + 0e0) < 1e18 and v_at + 0e0 = floor(v_at + 0e0) then
        set v_time = cast(v_at as decimal(60,30));
    end if;
    if v_time is null or v_time < 100000000000000 or v_time > v_most then
        call _queue_fail('PQ002', 'scheduled_at', json_unquote(v_at),
            'must be microseconds since 1970 (10^14 or more) or ISO 8601 with an offset');
    end if;
    set out_scheduled_at = v_time;
end $$
delimiter ;
