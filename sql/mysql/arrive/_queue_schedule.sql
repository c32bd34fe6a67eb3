-- calls: _queue_fail, _queue_instant, _queue_number
drop procedure if exists _queue_schedule;
delimiter $$
create procedure _queue_schedule(in in_options longtext character set utf8mb4, in in_now bigint,
    out out_scheduled_at bigint)
    comment 'The delivery time that the options ask for.
in_options: delay_seconds (0 or more), or scheduled_at, see _queue_instant. in_now: the time of the call.
Result: microseconds since 1970; in_now where neither is given.
Errors: PQ002.'
begin
    declare v_delay decimal(30,6);
    call _queue_number(in_options, 'delay_seconds', 0, 253402300799, v_delay);
    if coalesce(json_type(json_extract(in_options, '$.scheduled_at')), 'NULL') = 'NULL' then
        set out_scheduled_at = in_now + coalesce(v_delay, 0) * 1000000;
        if out_scheduled_at > 253402300799999999 then -- the last microsecond of the year 9999
            call _queue_fail('PQ002', 'delay_seconds', json_unquote(json_extract(in_options, '$.delay_seconds')),
                'must end before the year 10000');
        end if;
    elseif v_delay is not null then
        call _queue_fail('PQ002', 'scheduled_at', json_unquote(json_extract(in_options, '$.scheduled_at')),
            'must not stand beside delay_seconds');
    else
        call _queue_instant(in_options, 'scheduled_at', out_scheduled_at);
    end if;
end $$
delimiter ;
