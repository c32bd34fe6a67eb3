-- calls: _queue_reap
drop procedure if exists _queue_reap_by_the_way;
delimiter $$
create procedure _queue_reap_by_the_way(in in_now bigint)
    comment 'queue_reap from within queue_reserve and queue_pop, for at most 100 messages. A session that is new here
doesn''t: whatever ended the one that its client had before may have ended those of workers that live. They have the
timeout of their heartbeat to come back.
in_now: the time of the call.
Locks: as _queue_reap.'
begin
    declare v_late boolean;
    declare v_reaped longtext character set utf8mb4;
    if @pyqueue_reap <= in_now then
        select min(@pyqueue_reap + w.timeout_seconds * 1000000 <= in_now) into v_late from queue_worker w
        where if(w.session_lock is null, w.heartbeat_at + w.timeout_seconds * 1000000 <= in_now,
            coalesce(is_used_lock(w.session_lock), 0) <> w.session_id);
        if v_late then
            call _queue_reap(in_now, 100, v_reaped);
        end if;
    else
        set @pyqueue_reap = in_now;
    end if;
end $$
delimiter ;
