-- calls: _queue_next_tick, _queue_push_options, _queue_put, queue_now
-- changes: queue_recurring
create procedure queue_tick()
    comment 'Pushes what the schedules are due for, see queue_schedule: at most 1000 messages and 100 schedules a call,
those first that have been due the longest. Any number may call it at any time, and a worker does so now and then: an
occurrence makes one message, because only one call at a time has a schedule, and because its message has a key. A kind
that is drained gets none; it is caught up with once that ends. What isn''t of its payload_shape is dead at the next
reserve.
Result: ticked: how many messages were made.
Locks: the schedules that are due; what others have locked is passed over.'
begin
    declare v_now, v_ticked, v_at, v_last, v_next, v_end, v_seconds, v_push_at, v_put_at, v_entry bigint;
    declare v_left, v_attempts, v_max_attempts int;
    declare v_name, v_kind varchar(100) collate exact;
    declare v_key varchar(200) collate exact;
    declare v_spans varchar(100);
    declare v_payload, v_headers, v_push, v_none longtext;
    declare v_priority smallint;
    declare v_catch_up, v_outcome varchar(10);
    declare v_on_duplicate varchar(20);
    begin atomic
        declare c cursor for
            select r.name
            from (
                select n.name from queue_recurring n force index (queue_recurring_next)
                where n.paused = false and n.next_at <= v_now
                    and (select k.p_kind from queue_kind k where k.p_kind = n.p_kind and k.draining) is null
                order by n.next_at limit 100) d
                straight_join queue_recurring r force index (primary) on r.name = d.name
            where not r.paused and r.next_at <= v_now order by r.p_kind, r.name for update of r skip locked;
        call queue_now(v_now);
        set v_left = 1000, v_ticked = 0;
        schedules: for each c into v_name do
            if v_left <= 0 then
                leave schedules;
            end if;
            select r.p_kind, r.payload, r.push_options, r.catch_up, r.next_at, r.last_at,
                least(v_now, coalesce(r.until_at, v_now))
            into v_kind, v_payload, v_push, v_catch_up, v_at, v_last, v_end
            from queue_recurring r where r.name = v_name for update;
            call _queue_push_options(v_push, v_now, v_push_at, v_priority, v_headers, v_attempts, v_max_attempts,
                v_on_duplicate, v_none, v_none, v_none);
            if v_catch_up <> 'all' then
                -- from as late as there is one, so that what was missed for months isn't gone through one by one
                set v_spans = '60,600,3600,21600,86400,604800,2764800,31622400,';
                while v_spans <> '' do
                    set v_seconds = substring_index(v_spans, ',', 1),
                        v_spans = substr(v_spans, locate(',', v_spans) + 1);
                    call _queue_next_tick(v_name, greatest(v_end - v_seconds * 1000000, v_at - 1), v_next);
                    set v_spans = if(v_next <= v_end, '', v_spans);
                end while;
                while v_next <= v_end do
                    set v_at = v_next;
                    call _queue_next_tick(v_name, v_at, v_next);
                end while;
            end if;
            if v_catch_up = 'skip' and v_at < v_now - 60000000 then
                call _queue_next_tick(v_name, v_at, v_at);
            end if;
            while v_at <= v_now and v_left > 0 do
                set v_key = concat(v_name, '@', date_format(timestamp '1970-01-01 00:00:00'
                    + interval v_at div 1000000 second, '%Y-%m-%dT%H:%i:%sZ'));
                set v_entry = null;
                call _queue_put(v_entry, v_kind, v_key, v_payload, null, v_headers, v_priority, v_now, v_push_at, 0,
                    v_max_attempts, 'ignore', null, null, null, null, null, null, v_put_at, v_outcome);
                set v_ticked = v_ticked + (v_outcome = 'created'), v_left = v_left - 1, v_last = v_at;
                call _queue_next_tick(v_name, v_at, v_at);
            end while;
            update queue_recurring r set r.next_at = v_at, r.last_at = v_last where r.name = v_name;
        end each;
    end atomic;
    select v_ticked as ticked;
end;
