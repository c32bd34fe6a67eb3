-- calls: _queue_fail
create or replace function _queue_check_seconds(in_seconds double precision) returns void language plpgsql as $$
begin
    if in_seconds is null or in_seconds < 0 or in_seconds > 31536000 then -- NaN is greater than any number
        perform _queue_fail('PQ001', 'seconds', in_seconds::text, 'must be a number from 0 to 31536000');
    end if;
end $$;

comment on function _queue_check_seconds(double precision) is
$$Refuses a length of time that no hold can have.
in_seconds: the seconds.
Errors: PQ001.$$;
