-- calls: _queue_recur
drop procedure if exists queue_schedule;
delimiter $$
create procedure queue_schedule(in in_name text collate exact, in in_kind text collate exact,
    in in_payload longtext character set utf8mb4, in in_options longtext character set utf8mb4)
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
Errors: PQ001 for name and kind, PQ002 for options, PQ003 for payload and headers.
Locks: the schedule.
Where the idea comes from: cron.'
begin
    declare v_next_at bigint;
    begin atomic
        call _queue_recur(in_name, in_kind, in_payload, in_options, v_next_at);
    end atomic;
    select in_name as name, in_kind as p_kind, v_next_at as next_at;
end $$
delimiter ;
