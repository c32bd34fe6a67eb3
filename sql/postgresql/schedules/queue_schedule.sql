-- calls: _queue_boolean, _queue_check_fit, _queue_check_name, _queue_check_options, _queue_check_payload,
--     _queue_check_roles, _queue_fail, _queue_instant, _queue_next_tick, _queue_push_options, _queue_rule,
--     _queue_text, queue_now
-- changes: queue_recurring
create or replace function queue_schedule(in_name text, in_kind text, in_payload jsonb default null,
    in_options jsonb default null, out name text, out p_kind text, out next_at bigint)
    language plpgsql
    security definer set search_path from current as $$
declare
    v_now constant bigint := queue_now();
    v_rules constant text[] := '{every_seconds, daily_at, cron, time_zone, catch_up, until, paused}';
    v_pushes constant text[] := '{delay_seconds, priority, headers, max_attempts}';
    v_new queue_recurring;
    v_old queue_recurring;
begin
    perform _queue_check_name(in_name, 100, 'name');
    perform _queue_check_name(in_kind, 95, 'kind');
    perform _queue_check_roles(array[in_kind]);
    perform _queue_check_roles(array(select r.p_kind from queue_recurring r where r.name = in_name));
    in_payload := coalesce(in_payload, 'null');
    perform _queue_check_payload(in_payload, 'payload');
    perform _queue_check_options(in_options, v_rules || v_pushes, 'options');
    perform _queue_check_fit(k.payload_shape, in_payload, 'payload') from queue_kind k
        where k.p_kind = in_kind and k.payload_shape is not null;
    v_new := _queue_rule(in_options);
    v_new.push_options := in_options - v_rules;
    perform _queue_push_options(v_new.push_options, v_now);
    v_new.catch_up := coalesce(_queue_text(in_options, 'catch_up'), 'last');
    if v_new.catch_up not in ('all', 'last', 'skip') then
        perform _queue_fail('PQ002', 'catch_up', v_new.catch_up, 'must be all, last or skip');
    end if;
    v_new.until_at := _queue_instant(in_options, 'until');
    v_new.paused := coalesce(_queue_boolean(in_options, 'paused'), false);
    select r.* into v_old from queue_recurring r where r.name = in_name for update;
    if not v_old.paused and v_old.next_at <= v_now and row(v_old.every, v_old.seconds, v_old.minutes, v_old.hours,
        v_old.days, v_old.months, v_old.weekdays, v_old.either_day, v_old.zone, v_old.zone_seconds)
        is not distinct from row(v_new.every, v_new.seconds, v_new.minutes, v_new.hours, v_new.days, v_new.months,
        v_new.weekdays, v_new.either_day, v_new.zone, v_new.zone_seconds) then -- due, and not made yet
        v_new.next_at := case when v_old.next_at <= coalesce(v_new.until_at, v_old.next_at) then v_old.next_at end;
    else
        v_new.next_at := _queue_next_tick(v_new, v_now);
    end if;
    if v_new.next_at is null and v_new.until_at is null then
        perform _queue_fail('PQ002', 'cron', in_options ->> 'cron', 'must be a time that comes');
    end if;
    insert into queue_recurring as r (name, p_kind, payload, push_options, rule, every, seconds, minutes, hours, days,
        months, weekdays, either_day, zone, zone_seconds, catch_up, until_at, paused, next_at)
    values (in_name, in_kind, in_payload, v_new.push_options, v_new.rule, v_new.every, v_new.seconds, v_new.minutes,
        v_new.hours, v_new.days, v_new.months, v_new.weekdays, v_new.either_day, v_new.zone, v_new.zone_seconds,
        v_new.catch_up, v_new.until_at, v_new.paused, v_new.next_at)
    on conflict on constraint queue_recurring_pkey do update
    set p_kind = excluded.p_kind, payload = excluded.payload, push_options = excluded.push_options,
        rule = excluded.rule, every = excluded.every, seconds = excluded.seconds, minutes = excluded.minutes,
        hours = excluded.hours, days = excluded.days, months = excluded.months, weekdays = excluded.weekdays,
        either_day = excluded.either_day, zone = excluded.zone, zone_seconds = excluded.zone_seconds,
        catch_up = excluded.catch_up, until_at = excluded.until_at, paused = excluded.paused,
        next_at = excluded.next_at;
    name := in_name;
    p_kind := in_kind;
    next_at := v_new.next_at;
end $$;

comment on function queue_schedule(text, text, jsonb, jsonb) is
$$Has a message pushed again and again, by queue_tick. A schedule of that name is replaced. What it is due for already
stays due where its rule is the same.
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
Where the idea comes from: cron.$$;
