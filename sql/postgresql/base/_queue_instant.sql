-- calls: _queue_fail, queue_time
create or replace function _queue_instant(in_options jsonb, in_option text) returns bigint language plpgsql as $$
declare
    v_at constant jsonb := nullif(in_options -> in_option, 'null');
    v_time numeric;
begin
    if v_at is null then
        return null;
    elsif jsonb_typeof(v_at) = 'number' then
        v_time := v_at::numeric;
    elsif jsonb_typeof(v_at) = 'string'
        and v_at #>> '{}' ~ ('^[0-9]{4}-[0-9][0-9]-[0-9][0-9][T ][0-9][0-9]:[0-9][0-9](:[0-9][0-9]([.][0-9]{1,6})?)?'
            || '(Z|[+-][0-9][0-9](:?[0-9][0-9])?)$') then
        begin
            v_time := queue_time((v_at #>> '{}')::timestamptz);
        exception when datetime_field_overflow or invalid_datetime_format or invalid_time_zone_displacement_value then
            v_time := null;
        end;
    end if;
    -- up to the last microsecond of the year 9999
    if v_time is null or v_time <> trunc(v_time) or v_time < 100000000000000 or v_time > 253402300799999999 then
        perform _queue_fail('PQ002', in_option, v_at #>> '{}',
            'must be microseconds since 1970 (10^14 or more) or ISO 8601 with an offset');
    end if;
    return v_time::bigint;
end $$;

comment on function _queue_instant(jsonb, text) is
$$A time out of the options: microseconds since 1970, or ISO 8601 with an offset; a value under 10^14 is refused, so
that nobody's seconds pass for microseconds.
in_options: the options. in_option: its name.
Result: microseconds since 1970; NULL where it isn't given.
Errors: PQ002.$$;
