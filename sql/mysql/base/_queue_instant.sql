-- calls: _queue_fail
create procedure _queue_instant(in in_options longtext, in in_option varchar(30), out out_time bigint)
    comment 'A time out of the options: microseconds since 1970, or ISO 8601 with an offset; a value under 10^14 is
refused, so that nobody''s seconds pass for microseconds.
in_options: the options. in_option: its name.
Result: microseconds since 1970; NULL where it isn''t given.
Errors: PQ002.
differs: the result is out_time. PostgreSQL reads ISO 8601 itself, in the same way: date, T or a space, hours and
minutes, perhaps seconds, perhaps up to six places of them, and an offset: Z, +02, +0200, +02:00. A second 60 is the
next minute.'
begin
    declare v_at longtext default json_extract(in_options, concat('$.', in_option));
    declare v_type varchar(20) default json_type(v_at);
    declare v_text longtext collate exact default json_unquote(v_at);
    declare v_offset varchar(10);
    declare v_clock varchar(20);
    declare v_day date;
    declare v_month_day, v_hour, v_minute, v_second, v_fraction, v_ahead_hours, v_ahead_minutes int;
    set out_time = null;
    if coalesce(v_type, 'NULL') <> 'NULL' then
        if v_type = 'STRING' and char_length(v_text) <= 40 and v_text regexp
            '^[0-9]{4}(-[0-9]{2}){2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)\\z'
                then
            set v_offset = regexp_substr(v_text, '(Z|[+-][0-9:]+)\\z');
            set v_clock = substr(v_text, 12, char_length(v_text) - 11 - char_length(v_offset));
            -- no server shows a day that isn't there in the same way
            if substr(v_text, 6, 2) between 1 and 12 and left(v_text, 4) > 0 then
                set v_day = last_day(concat(left(v_text, 8), '01'));
            end if;
            set v_month_day = substr(v_text, 9, 2), v_hour = left(v_clock, 2), v_minute = substr(v_clock, 4, 2),
                v_second = if(char_length(v_clock) > 5, substr(v_clock, 7, 2), 0),
                v_fraction = if(char_length(v_clock) > 9, rpad(substr(v_clock, 10), 6, '0'), 0),
                v_ahead_hours = if(v_offset = 'Z', 0, substr(v_offset, 2, 2)),
                v_ahead_minutes = if(char_length(v_offset) > 3, right(v_offset, 2), 0);
            if v_day is not null and v_month_day between 1 and day(v_day) and v_ahead_hours < 16
                and v_ahead_minutes < 60 and (v_hour < 24 and v_minute < 60 and v_second <= 60
                    or v_hour = 24 and v_minute + v_second + v_fraction = 0) then
                set out_time = ((to_days(v_day) - day(v_day) + v_month_day - to_days('1970-01-01')) * 86400
                    + v_hour * 3600 + v_minute * 60 + v_second
                    - if(left(v_offset, 1) = '-', -1, 1) * (v_ahead_hours * 3600 + v_ahead_minutes * 60)) * 1000000 +
                        v_fraction;
            end if;
        elseif v_type in ('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL') and abs(v_at + 0e0) < 1e18
            and v_at + 0e0 = floor(v_at + 0e0) then
            set out_time = cast(v_at as decimal(60,30));
        end if;
        -- up to the last microsecond of the year 9999
        if out_time is null or out_time < 100000000000000 or out_time > 253402300799999999 then
            call _queue_fail('PQ002', in_option, v_text,
                'must be microseconds since 1970 (10^14 or more) or ISO 8601 with an offset');
        end if;
    end if;
end;
