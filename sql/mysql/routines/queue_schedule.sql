drop procedure if exists queue_schedule;
delimiter $$
create procedure queue_schedule(in in_name text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_payload longtext character set utf8mb4, in in_options longtext character set utf8mb4)
    comment 'Has a message pushed again and again, by queue_tick; a schedule of that name is replaced, and what it is due for already stays so where
its rule is the same.
in_name: 1 to 100 characters. in_kind: the kind. in_payload: as in queue_push. in_options: one of every_seconds (1 to 10 years: whenever
the microseconds since 1970 can be divided by it, so every 3600 is at the full hour), daily_at ("09:30", "09:30:15") and cron
("minute hour day month weekday", as cron has them, names included; seconds as a sixth field at the end; where day and weekday are both
set, either will do); for the last two time_zone: an offset, "+02:00", or a name that the server knows, default UTC. Of one name an
occurrence happens once: a local time that the clock jumps over is when it jumps, one that it shows twice is the first; but what is
due in every hour goes on as real time does. catch_up: what becomes of occurrences that queue_tick finds late: last (the default: one
message, for the newest), all (a message each) or skip (none for what is more than 60 s late). until: the end, as scheduled_at of a push;
paused: true: nothing is made, nor later made up for. And for the push delay_seconds, priority, headers and max_attempts.
Result: name, p_kind; next_at, microseconds since 1970, NULL where until is past. A message has the key <name>@<when it was due>, as
2026-11-21T09:30:00Z.
Errors: PQ001 for name and kind, PQ002 for options, PQ003 for payload and headers.
Locks: the schedule.
Where the idea comes from: cron.'
begin
    declare v_own boolean;
    declare v_tries int default 0;
    declare v_next_at bigint;
    again: loop
        begin
            declare exit handler for 1213, 1020 call _queue_again(v_own, v_tries);
            declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
            call _queue_begin(v_own);
            call _queue_recur(in_name, in_kind, in_payload, in_options, v_next_at);
            call _queue_commit(v_own);
            leave again;
        end;
    end loop;
    select in_name as name, in_kind as p_kind, v_next_at as next_at;
end $$
delimiter ;
