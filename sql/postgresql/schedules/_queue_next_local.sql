create or replace function _queue_next_local(in_rule queue_recurring,
    in_local bigint) returns bigint language plpgsql as $$
declare
    v_first constant bigint := (in_local + 1) / 86400;
    v_least integer := (in_local + 1) % 86400;
    v_date date;
    v_on_day boolean;
    v_on_weekday boolean;
begin
    for v_day in v_first .. v_first + 2922 loop -- from one 29 February to the next it may be eight years
        v_date := date '1970-01-01' + v_day::integer;
        v_on_day := (in_rule.days >> extract(day from v_date)::integer) & 1 = 1;
        v_on_weekday := (in_rule.weekdays >> extract(dow from v_date)::integer) & 1 = 1;
        if (in_rule.months >> extract(month from v_date)::integer) & 1 = 1
            and (v_on_day and v_on_weekday or in_rule.either_day and (v_on_day or v_on_weekday)) then
            for v_hour in v_least / 3600 .. 23 loop
                continue when (in_rule.hours >> v_hour) & 1 = 0;
                for v_minute in greatest(v_least / 60 - v_hour * 60, 0) .. 59 loop
                    continue when (in_rule.minutes >> v_minute) & 1 = 0;
                    for v_second in greatest(v_least - v_hour * 3600 - v_minute * 60, 0) .. 59 loop
                        if (in_rule.seconds >> v_second) & 1 = 1 then
                            return v_day * 86400::bigint + v_hour * 3600 + v_minute * 60 + v_second;
                        end if;
                    end loop;
                end loop;
            end loop;
        end if;
        v_least := 0;
    end loop;
    return null;
end $$;

comment on function _queue_next_local(queue_recurring, bigint) is
$$The next local time of a rule.
in_rule: the rule, one with sets. in_local: a local time, in seconds since 1970-01-01 there.
Result: the first one after it, in such seconds; NULL where there is none within eight years.$$;
