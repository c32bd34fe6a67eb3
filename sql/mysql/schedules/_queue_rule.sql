-- calls: _queue_cron_field, _queue_fail, _queue_number, _queue_text
create procedure _queue_rule(in in_options longtext, out out_rule longtext, out out_every bigint,
    out out_seconds bigint, out out_minutes bigint, out out_hours bigint, out out_days bigint, out out_months bigint,
    out out_weekdays bigint, out out_either_day boolean, out out_zone varchar(64), out out_zone_seconds int)
    comment 'The rule of a schedule out of its options.
in_options: see queue_schedule; of these every_seconds, daily_at, cron and time_zone.
Result: a row of queue_recurring with what makes the rule.
Errors: PQ002.
differs: the result is the out_ parameters, the columns of queue_recurring. The server has zones where somebody has
filled its tables. A cron of 5000 characters is none.'
begin
    declare v_every decimal(30,6);
    declare v_daily, v_cron, v_zone, v_fields text collate exact;
    call _queue_text(in_options, 'daily_at', v_daily);
    call _queue_text(in_options, 'cron', v_cron);
    call _queue_text(in_options, 'time_zone', v_zone);
    call _queue_number(in_options, 'every_seconds', 1, 315360000, v_every);
    set out_every = v_every * 1000000, out_seconds = null, out_minutes = null, out_hours = null, out_days = null,
        out_months = null, out_weekdays = null, out_either_day = null, out_zone = null, out_zone_seconds = null;
    if coalesce((v_every is not null) + (v_daily is not null) + (v_cron is not null), 0) <> 1 then
        call _queue_fail('PQ002', 'options', in_options, 'must have one of every_seconds, daily_at, cron');
    elseif v_every is not null then
        set out_rule = json_object('every_seconds', in_options -> 'every_seconds');
        if v_zone is not null then
            call _queue_fail('PQ002', 'time_zone', v_zone, 'must not stand beside every_seconds');
        end if;
    else
        if v_daily is not null and v_daily not regexp '^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?\\z' then
            call _queue_fail('PQ002', 'daily_at', v_daily, 'must be a time of the day: 09:30 or 09:30:00');
        elseif v_daily is not null then
            set v_fields = concat_ws(' ', substr(v_daily, 4, 2), left(v_daily, 2), '* * *',
                coalesce(nullif(substr(v_daily, 7), ''), '0')),
                out_rule = json_object('daily_at', v_daily, 'time_zone', coalesce(v_zone, 'UTC'));
        else
            set v_fields = trim(regexp_replace(v_cron, '[[:space:]]+', ' ')),
                out_rule = json_object('cron', v_cron, 'time_zone', coalesce(v_zone, 'UTC'));
        end if;
        if char_length(v_fields) - char_length(replace(v_fields, ' ', '')) = 4 then
            set v_fields = concat(v_fields, ' 0');
        end if;
        if char_length(v_fields) < 5000 and char_length(v_fields) - char_length(replace(v_fields, ' ', '')) = 5 then
            call _queue_cron_field(substring_index(v_fields, ' ', 1), 0, 59, '', out_minutes);
            call _queue_cron_field(substring_index(substring_index(v_fields, ' ', 2), ' ', -1), 0, 23, '', out_hours);
            call _queue_cron_field(substring_index(substring_index(v_fields, ' ', 3), ' ', -1), 1, 31, '', out_days);
            call _queue_cron_field(substring_index(substring_index(v_fields, ' ', 4), ' ', -1), 1, 12,
                'jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec', out_months);
            call _queue_cron_field(substring_index(substring_index(v_fields, ' ', 5), ' ', -1), 0, 7,
                'sun,mon,tue,wed,thu,fri,sat', out_weekdays);
            set out_weekdays = out_weekdays & 127 | out_weekdays >> 7; -- 7 is Sunday too
            call _queue_cron_field(substring_index(v_fields, ' ', -1), 0, 59, '', out_seconds);
            set out_either_day = left(substring_index(substring_index(v_fields, ' ', 3), ' ', -1), 1) <> '*'
                and left(substring_index(substring_index(v_fields, ' ', 5), ' ', -1), 1) <> '*';
        end if;
        if out_seconds + out_minutes + out_hours + out_days + out_months + out_weekdays is null then
            call _queue_fail('PQ002', 'cron', v_cron,
                'must be minute hour day month weekday, perhaps second, as cron has them');
        elseif v_zone regexp '^[+-]([01][0-9]|2[0-3]):[0-5][0-9]\\z' then
            set out_zone_seconds = concat(left(v_zone, 1), substr(v_zone, 2, 2) * 3600 + substr(v_zone, 5, 2) * 60);
        elseif coalesce(v_zone, 'UTC') = 'UTC' then
            set out_zone_seconds = 0;
        elseif v_zone regexp '^[A-Z][A-Za-z0-9_/+-]{0,63}\\z' and v_zone <> 'SYSTEM'
            and convert_tz(timestamp '2020-01-01 00:00:00', '+00:00', v_zone) is not null then
            set out_zone = v_zone;
        else
            call _queue_fail('PQ002', 'time_zone', v_zone,
                'must be an offset, +02:00, or a zone in mysql.time_zone_name');
        end if;
    end if;
end;
