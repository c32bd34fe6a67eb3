-- calls: _queue_fail
create procedure _queue_check_seconds(in in_seconds double)
    comment 'Refuses a length of time that no hold can have.
in_seconds: the seconds.
Errors: PQ001.'
begin
    if in_seconds is null or in_seconds < 0 or in_seconds > 31536000 then
        call _queue_fail('PQ001', 'seconds', in_seconds, 'must be a number from 0 to 31536000');
    end if;
end;
