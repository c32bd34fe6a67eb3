create or replace function _queue_schedule(in_options jsonb, in_now bigint) returns bigint language plpgsql as $$
declare
    v_most constant bigint := 253402300799999999; -- the last microsecond of the year 9999
    v_at constant jsonb := nullif(in_options -> 'scheduled_at', 'null');
    v_delay constant numeric := _queue_number(in_options, 'delay_seconds', 0, 253402300799);
    v_time numeric;
begin
    if v_at is null then
        v_time := in_now + coalesce(v_delay, 0) * 1000000;
        if v_time > v_most then
            perform _queue_fail('PQ002', 'delay_seconds', v_delay::text, 'must end before the year 10000');
        end if;
        return v_time::bigint;
    elsif v_delay is not null then
        perform _queue_fail('PQ002', 'scheduled_at', v_at #>> '{}', 'must not stand beside delay_seconds');
    elsif jsonb_typeof(v_at) = 'number' then
        v_time := v_at::numeric;
    elsif jsonb_typeof(v_at) = 'string'
        and v_at #>> '{}' ~ '^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d(:?\d\d)?)$' then
        begin
            v_time := queue_time((v_at #>> '{}')::timestamptz);
        exception when datetime_field_overflow or invalid_datetime_format or invalid_time_zone_displacement_value then
            v_time := null;
        end;
    end if;
    if v_time is null or v_time <> trunc(v_time) or v_time < 100000000000000 or v_time > v_most then
        perform _queue_fail('PQ002', 'scheduled_at', v_at #>> '{}', 'must be microseconds since 1970 (10^14 or more) or ISO 8601 with an offset');
    end if;
    return v_time::bigint;
end $$;

comment on function _queue_schedule(jsonb, bigint) is
$$The delivery time that the options ask for.
in_options: delay_seconds (0 or more), or scheduled_at (microseconds since 1970, or ISO 8601 with an offset; a value under
10^14 is refused, so that nobody's seconds pass for microseconds). in_now: the time of the call.
Result: microseconds since 1970; in_now where neither is given.
Errors: PQ002.$$;
