drop procedure if exists _queue_reap;
delimiter $$
create procedure _queue_reap(in in_now bigint, in in_max int, out out_reaped longtext character set utf8mb4)
    comment 'queue_reap without its transaction.
in_now: the time of the call. in_max: how many messages at the most. out_reaped: a JSON array of arrays: the worker, and how many of its
messages were freed.
Locks: the rows of the workers, which others may be reaping: those are passed over; the messages.'
begin
    declare v_left int default in_max;
    declare v_freed int;
    declare v_done boolean;
    declare v_kinds longtext character set utf8mb4;
    declare v_next, v_worker varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_last varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ default '';
    declare continue handler for not found begin end;
    set out_reaped = '[]';
    workers: loop
        set v_next = null, v_worker = null, v_kinds = null;
        select w.worker into v_next from queue_worker w
        where w.worker > v_last and if(w.session_lock is null, w.heartbeat_at + w.timeout_seconds * 1000000 <= in_now,
                coalesce(is_used_lock(w.session_lock), 0) <> w.session_id)
        order by w.worker limit 1;
        if v_next is null or v_left <= 0 then
            leave workers;
        end if;
        -- by now it may be back, or another may have freed what it held
        select w.worker, w.kinds into v_worker, v_kinds from queue_worker w
        where w.worker = v_next and if(w.session_lock is null, w.heartbeat_at + w.timeout_seconds * 1000000 <= in_now,
                coalesce(is_used_lock(w.session_lock), 0) <> w.session_id)
        for update skip locked;
        if v_worker is not null then
            call _queue_free(v_worker, v_kinds, in_now, v_left, v_freed, v_done);
            set v_left = v_left - v_freed, out_reaped = json_array_append(out_reaped, '$', json_array(v_worker, v_freed + 0));
            if v_done then
                delete w from queue_worker w where w.worker = v_worker;
            end if;
        end if;
        set v_last = v_next;
    end loop;
end $$
delimiter ;
