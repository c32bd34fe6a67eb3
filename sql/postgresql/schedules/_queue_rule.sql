-- calls: _queue_cron_field, _queue_fail, _queue_number, _queue_text
create or replace function _queue_rule(in_options jsonb) returns queue_recurring language plpgsql as $$
declare
    v_rule queue_recurring;
    v_daily constant text := _queue_text(in_options, 'daily_at');
    v_cron constant text := _queue_text(in_options, 'cron');
    v_zone constant text := _queue_text(in_options, 'time_zone');
    v_every constant numeric := _queue_number(in_options, 'every_seconds', 1::numeric, 315360000::numeric);
    v_fields text[];
begin
    if num_nonnulls(v_every, v_daily, v_cron) <> 1 then
        perform _queue_fail('PQ002', 'options', in_options::text, 'must have one of every_seconds, daily_at, cron');
    elsif v_every is not null then
        if v_zone is not null then
            perform _queue_fail('PQ002', 'time_zone', v_zone, 'must not stand beside every_seconds');
        end if;
        v_rule.every := (v_every * 1000000)::bigint;
        v_rule.rule := jsonb_build_object('every_seconds', v_every);
        return v_rule;
    elsif v_daily is not null then
        if v_daily !~ '^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$' then
            perform _queue_fail('PQ002', 'daily_at', v_daily, 'must be a time of the day: 09:30 or 09:30:00');
        end if;
        v_fields := array[substr(v_daily, 4, 2), left(v_daily, 2), '*', '*', '*',
            coalesce(nullif(substr(v_daily, 7), ''), '0')];
        v_rule.rule := jsonb_build_object('daily_at', v_daily, 'time_zone', coalesce(v_zone, 'UTC'));
    else
        v_fields := regexp_split_to_array(btrim(v_cron), '[[:space:]]+');
        v_rule.rule := jsonb_build_object('cron', v_cron, 'time_zone', coalesce(v_zone, 'UTC'));
    end if;
    v_rule.minutes := _queue_cron_field(v_fields[1], 0, 59, null);
    v_rule.hours := _queue_cron_field(v_fields[2], 0, 23, null);
    v_rule.days := _queue_cron_field(v_fields[3], 1, 31, null);
    v_rule.months := _queue_cron_field(v_fields[4], 1, 12, 'jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec');
    v_rule.weekdays := _queue_cron_field(v_fields[5], 0, 7, 'sun,mon,tue,wed,thu,fri,sat');
    v_rule.weekdays := v_rule.weekdays & 127 | (v_rule.weekdays >> 7); -- 7 is Sunday too
    v_rule.seconds := _queue_cron_field(coalesce(v_fields[6], '0'), 0, 59, null);
    v_rule.either_day := left(v_fields[3], 1) <> '*' and left(v_fields[5], 1) <> '*';
    if cardinality(v_fields) > 6
        or num_nulls(v_rule.minutes, v_rule.hours, v_rule.days, v_rule.months, v_rule.weekdays, v_rule.seconds) > 0 then
        perform _queue_fail('PQ002', 'cron', v_cron,
            'must be minute hour day month weekday, perhaps second, as cron has them');
    elsif v_zone ~ '^[+-]([01][0-9]|2[0-3]):[0-5][0-9]$' then
        v_rule.zone_seconds := (left(v_zone, 1) || '1')::integer
            * (substr(v_zone, 2, 2)::integer * 3600 + substr(v_zone, 5, 2)::integer * 60);
    elsif coalesce(v_zone, 'UTC') = 'UTC' then
        v_rule.zone_seconds := 0;
    elsif exists (select from pg_catalog.pg_timezone_names z where z.name = v_zone) then
        v_rule.zone := v_zone;
    else
        perform _queue_fail('PQ002', 'time_zone', v_zone, 'must be a zone that the server knows, or an offset: +02:00');
    end if;
    return v_rule;
end $$;

comment on function _queue_rule(jsonb) is
$$The rule of a schedule out of its options.
in_options: see queue_schedule; of these every_seconds, daily_at, cron and time_zone.
Result: a row of queue_recurring with what makes the rule.
Errors: PQ002.$$;
