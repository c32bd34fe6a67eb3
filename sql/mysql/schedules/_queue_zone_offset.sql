create procedure _queue_zone_offset(in in_zone varchar(64), in in_at bigint, out out_offset bigint)
    comment 'How far a zone is ahead of UTC.
in_zone: its name. in_at: when, in seconds since 1970-01-01 UTC.
Result: seconds.
differs: the result is out_offset. Where the server knows times up to 2038 only, it is 0 after that.'
begin
    declare v_at datetime default timestamp '1970-01-01 00:00:00' + interval in_at second;
    set out_offset = timestampdiff(second, v_at, convert_tz(v_at, '+00:00', in_zone));
end;
