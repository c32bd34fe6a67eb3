-- calls: _queue_boolean, _queue_check_fit, _queue_check_name, _queue_check_options, _queue_check_payload,
--     _queue_check_roles, _queue_fail, _queue_instant, _queue_next_tick, _queue_push_options, _queue_rule,
--     _queue_text, queue_now
-- changes: queue_recurring
create procedure queue_schedule(in in_name text collate exact, in in_kind text collate exact, in in_payload longtext,
    in in_options longtext)
    comment 'Has a message pushed again and again, by queue_tick. A schedule of that name is replaced. What it is due
for already stays due where its rule is the same.
in_name: 1 to 100 characters.
in_kind: the kind, 1 to 95 characters.
in_payload: as in queue_push.
in_options: one of every_seconds, daily_at and cron, and perhaps others.
- every_seconds: each time the microseconds since 1970 can be divided by it, so 3600 is at the full hour. Allowed: 1
  to 315360000 (10 years). Default: none.
- daily_at: once a day. Allowed: a time of the day, "09:30" or "09:30:15". Default: none.
- cron: as cron has it, "minute hour day month weekday", names included; seconds as a sixth field at the end. Where
  day and weekday are both set, either will do. Allowed: five or six fields. Default: none.
- time_zone: of daily_at and cron. Of one name an occurrence happens once. A local time that the clock jumps over
  happens at the jump. A local time that the clock shows twice is the first one. What is due in every hour goes on as
  real time does. Allowed: an offset, "+02:00", or a name that the server knows. Default: UTC.
- catch_up: what becomes of occurrences that queue_tick finds late. last: one message, for the newest. all: a message
  each. skip: none for what is more than 60 s late. Allowed: last, all, skip. Default: last.
- until: the end of the schedule. Allowed: as scheduled_at of queue_push. Default: none.
- paused: nothing is made, nor made up for later. Allowed: true, false. Default: false.
- delay_seconds: of each push. Allowed: 0 or more. Default: 0.
- priority: of each push. Allowed: -32768 to 32767. Default: 0.
- headers: of each push. Allowed: an object of strings, numbers, booleans and nulls. Default: none.
- max_attempts: of each push. Allowed: 1 to 1000000000. Default: max_attempts of the kind.
Result: name, p_kind; next_at, microseconds since 1970, NULL where until is past. A message has the key <name>@<when
it was due>, as 2026-11-21T09:30:00Z.
Errors: PQ007 for a kind that is for others. PQ001 for name and kind, PQ002 for options, PQ003 for payload and headers.
Locks: the schedule.
Where the idea comes from: cron.'
begin
    declare v_next_at bigint;
    begin atomic
        declare v_now, v_every, v_seconds, v_minutes, v_hours, v_days, v_months, v_weekdays, v_until, v_at,
            v_due bigint;
        declare v_before varchar(100) collate exact;
        declare v_zone_seconds, v_attempts, v_max_attempts int;
        declare v_priority smallint;
        declare v_either, v_paused boolean;
        declare v_zone varchar(64);
        declare v_on_duplicate varchar(20);
        declare v_rule, v_push, v_headers, v_shape, v_none longtext;
        declare v_catch_up text collate exact;
        declare continue handler for not found begin end;
        set v_next_at = null;
        call queue_now(v_now);
        call _queue_check_name(in_name, 100, 'name');
        call _queue_check_name(in_kind, 95, 'kind');
        -- not as a query in a call, which would lock the row
        select max(r.p_kind) into v_before from queue_recurring r where r.name = in_name;
        call _queue_check_roles(json_array(in_kind, v_before));
        set in_payload = coalesce(in_payload, 'null');
        call _queue_check_payload(in_payload, 'payload');
        call _queue_check_options(in_options, concat('every_seconds,daily_at,cron,time_zone,catch_up,until,paused,',
            'delay_seconds,priority,headers,max_attempts'), 'options');
        select k.payload_shape into v_shape from queue_kind k where k.p_kind = in_kind;
        if v_shape is not null then
            call _queue_check_fit(v_shape, in_payload, 'payload');
        end if;
        call _queue_rule(in_options, v_rule, v_every, v_seconds, v_minutes, v_hours, v_days, v_months, v_weekdays,
            v_either, v_zone, v_zone_seconds);
        set v_push = json_remove(in_options, '$.every_seconds', '$.daily_at', '$.cron', '$.time_zone', '$.catch_up',
            '$.until', '$.paused');
        call _queue_push_options(v_push, v_now, v_at, v_priority, v_headers, v_attempts, v_max_attempts,
            v_on_duplicate, v_none, v_none, v_none);
        call _queue_text(in_options, 'catch_up', v_catch_up);
        if v_catch_up not in ('all', 'last', 'skip') then
            call _queue_fail('PQ002', 'catch_up', v_catch_up, 'must be all, last or skip');
        end if;
        call _queue_instant(in_options, 'until', v_until);
        call _queue_boolean(in_options, 'paused', v_paused);
        -- due, and not made yet
        select r.next_at into v_due from queue_recurring r
        where r.name = in_name and not r.paused and r.next_at <= v_now and r.every <=> v_every
            and r.seconds <=> v_seconds
            and r.minutes <=> v_minutes and r.hours <=> v_hours and r.days <=> v_days and r.months <=> v_months
            and r.weekdays <=> v_weekdays and r.either_day <=> v_either and r.zone <=> v_zone
                and r.zone_seconds <=> v_zone_seconds
        for update;
        insert into queue_recurring (name, p_kind, payload, push_options, rule, catch_up, paused)
        values (in_name, in_kind, in_payload, v_push, v_rule, coalesce(v_catch_up, 'last'), false)
        on duplicate key update name = in_name;
        update queue_recurring r
        set r.p_kind = in_kind, r.payload = in_payload, r.push_options = v_push, r.rule = v_rule, r.every = v_every,
            r.seconds = v_seconds, r.minutes = v_minutes, r.hours = v_hours, r.days = v_days, r.months = v_months,
            r.weekdays = v_weekdays, r.either_day = v_either, r.zone = v_zone, r.zone_seconds = v_zone_seconds,
            r.catch_up = coalesce(v_catch_up, 'last'), r.until_at = v_until, r.paused = coalesce(v_paused, false),
            r.next_at = null
        where r.name = in_name;
        set v_next_at = if(v_due > v_until, null, v_due);
        if v_due is null then
            call _queue_next_tick(in_name, v_now, v_next_at);
        end if;
        if v_next_at is null and v_until is null then
            call _queue_fail('PQ002', 'cron', json_unquote(in_options -> 'cron'), 'must be a time that comes');
        end if;
        update queue_recurring r set r.next_at = v_next_at where r.name = in_name;
    end atomic;
    select in_name as name, in_kind as p_kind, v_next_at as next_at;
end;
