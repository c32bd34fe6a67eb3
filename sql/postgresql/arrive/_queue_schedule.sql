-- calls: _queue_fail, _queue_instant, _queue_number
create or replace function _queue_schedule(in_options jsonb, in_now bigint) returns bigint language plpgsql as $$
declare
    v_delay constant numeric := _queue_number(in_options, 'delay_seconds', 0::numeric, 253402300799::numeric);
    v_time numeric;
begin
    if nullif(in_options -> 'scheduled_at', 'null') is null then
        v_time := in_now + coalesce(v_delay, 0) * 1000000;
        if v_time > 253402300799999999 then -- the last microsecond of the year 9999
            perform _queue_fail('PQ002', 'delay_seconds', v_delay::text, 'must end before the year 10000');
        end if;
        return v_time::bigint;
    elsif v_delay is not null then
        perform _queue_fail('PQ002', 'scheduled_at', in_options ->> 'scheduled_at',
            'must not stand beside delay_seconds');
    end if;
    return _queue_instant(in_options, 'scheduled_at');
end $$;

comment on function _queue_schedule(jsonb, bigint) is
$$The delivery time that the options ask for.
in_options: delay_seconds (0 or more), or scheduled_at, see _queue_instant. in_now: the time of the call.
Result: microseconds since 1970; in_now where neither is given.
Errors: PQ002.$$;
