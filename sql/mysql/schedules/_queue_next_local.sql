create procedure _queue_next_local(in in_name text collate exact, in in_local bigint, out out_local bigint)
    comment 'The next local time of a rule.
in_name: the schedule with the rule, one with sets. in_local: a local time, in seconds since 1970-01-01 there.
Result: the first one after it, in such seconds; NULL where there is none within eight years.
differs: the result is out_local; a row can''t be a parameter.'
begin
    declare v_seconds, v_minutes, v_hours, v_days, v_months, v_weekdays bigint;
    declare v_either, v_on_day, v_on_weekday boolean;
    declare v_date date;
    declare v_hour, v_minute, v_second int;
    declare v_day bigint default (in_local + 1) div 86400;
    declare v_first bigint default (in_local + 1) div 86400;
    declare v_least int default (in_local + 1) % 86400;
    select r.seconds, r.minutes, r.hours, r.days, r.months, r.weekdays, r.either_day
    into v_seconds, v_minutes, v_hours, v_days, v_months, v_weekdays, v_either
    from queue_recurring r where r.name = in_name;
    set out_local = null;
    while out_local is null and v_day <= v_first + 2922 do -- from one 29 February to the next it may be eight years
        set v_date = date '1970-01-01' + interval v_day day;
        set v_on_day = v_days >> dayofmonth(v_date) & 1, v_on_weekday = v_weekdays >> (dayofweek(v_date) - 1) & 1;
        if v_months >> month(v_date) & 1 and (v_on_day and v_on_weekday or v_either and (v_on_day or v_on_weekday)) then
            set v_hour = v_least div 3600;
            while out_local is null and v_hour <= 23 do
                set v_minute = if(v_hours >> v_hour & 1, greatest(v_least div 60 - v_hour * 60, 0), 60);
                while out_local is null and v_minute <= 59 do
                    set v_second = if(v_minutes >> v_minute & 1, greatest(v_least - v_hour * 3600 - v_minute * 60, 0),
                        60);
                    while out_local is null and v_second <= 59 do
                        if v_seconds >> v_second & 1 then
                            set out_local = v_day * 86400 + v_hour * 3600 + v_minute * 60 + v_second;
                        end if;
                        set v_second = v_second + 1;
                    end while;
                    set v_minute = v_minute + 1;
                end while;
                set v_hour = v_hour + 1;
            end while;
        end if;
        set v_least = 0, v_day = v_day + 1;
    end while;
end;
