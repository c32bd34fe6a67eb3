-- calls: _queue_tick, queue_now
drop procedure if exists queue_tick;
delimiter $$
create procedure queue_tick()
    comment 'Pushes what the schedules are due for, see queue_schedule: at most 1000 messages and 100 schedules a call,
those first that have been due the longest. Any number may call it at any time, and a worker does so now and then: an
occurrence makes one message, because only one call at a time has a schedule, and because its message has a key. A kind
that is drained gets none; it is caught up with once that ends. What isn''t of its payload_shape is dead at the next
reserve.
Result: ticked: how many messages were made.
Locks: the schedules that are due; what others have locked is passed over.'
begin
    declare v_now, v_ticked bigint;
    declare v_left, v_made int;
    declare v_name varchar(100) collate exact;
    begin atomic
        declare v_done boolean default false;
        declare c cursor for
            select d.name
            from (
                select r.name, r.p_kind from queue_recurring r force index (queue_recurring_next)
                where r.paused = false and r.next_at <= v_now
                    and not exists (select k.p_kind from queue_kind k where k.p_kind = r.p_kind and k.draining)
                order by r.next_at limit 100 for update skip locked) d
            order by d.p_kind, d.name;
        call queue_now(v_now);
        set v_left = 1000, v_ticked = 0, v_done = false;
        open c;
        schedules: loop
            begin
                declare continue handler for not found set v_done = true;
                fetch c into v_name;
            end;
            if v_done or v_left <= 0 then
                leave schedules;
            end if;
            call _queue_tick(v_name, v_now, v_left, v_made);
            set v_ticked = v_ticked + v_made;
        end loop;
        close c;
    end atomic;
    select v_ticked as ticked;
end $$
delimiter ;
