-- calls: _queue_last_tick, _queue_next_tick, _queue_push_options, _queue_put
-- changes: queue_recurring
drop procedure if exists _queue_tick;
delimiter $$
create procedure _queue_tick(in in_name text collate exact, in in_now bigint, inout out_left int, out out_made int)
    comment 'Pushes what one schedule is due for.
in_name: the schedule, locked already. in_now: the time of the call. out_left: how many messages may be made yet.
out_made: how many were made.
differs: on PostgreSQL it is a part of queue_tick.'
begin
    declare v_kind varchar(100) collate exact;
    declare v_payload, v_headers, v_push longtext character set utf8mb4;
    declare v_priority smallint;
    declare v_attempts, v_max_attempts int;
    declare v_catch_up varchar(10) character set utf8mb4;
    declare v_none longtext character set utf8mb4;
    declare v_on_duplicate varchar(20) character set utf8mb4;
    declare v_outcome varchar(10) character set utf8mb4;
    declare v_at, v_last, v_push_at, v_put_at, v_entry bigint;
    declare v_key varchar(200) collate exact;
    select r.p_kind, r.payload, r.push_options, r.catch_up, r.next_at, r.last_at
    into v_kind, v_payload, v_push, v_catch_up, v_at, v_last
    from queue_recurring r where r.name = in_name for update;
    call _queue_push_options(v_push, in_now, v_push_at, v_priority, v_headers, v_attempts, v_max_attempts,
        v_on_duplicate, v_none, v_none, v_none);
    if v_catch_up <> 'all' then
        call _queue_last_tick(in_name, in_now, v_at);
    end if;
    if v_catch_up = 'skip' and v_at < in_now - 60000000 then
        call _queue_next_tick(in_name, v_at, v_at);
    end if;
    set out_made = 0;
    while v_at <= in_now and out_left > 0 do
        set v_key = concat(in_name, '@', date_format(timestamp '1970-01-01 00:00:00' + interval v_at div 1000000 second,
            '%Y-%m-%dT%H:%i:%sZ'));
        set v_entry = null;
        call _queue_put(v_entry, v_kind, v_key, v_payload, null, v_headers, v_priority, in_now, v_push_at, 0,
            v_max_attempts, 'ignore', null, null, null, null, null, null, v_put_at, v_outcome);
        set out_made = out_made + (v_outcome = 'created'), out_left = out_left - 1, v_last = v_at;
        call _queue_next_tick(in_name, v_at, v_at);
    end while;
    update queue_recurring r set r.next_at = v_at, r.last_at = v_last where r.name = in_name;
end $$
delimiter ;
