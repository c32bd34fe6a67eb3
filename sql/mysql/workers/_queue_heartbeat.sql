-- calls: _queue_boolean, _queue_check_headers, _queue_check_key, _queue_check_kinds, _queue_check_options,
--     _queue_groups_due, _queue_number, _queue_server_run, _queue_several_nodes
-- changes: queue_worker
drop procedure if exists _queue_heartbeat;
delimiter $$
create procedure _queue_heartbeat(in in_worker text collate exact, in in_options longtext character set utf8mb4,
    in in_now bigint, out out_alive boolean, out out_started bigint, out out_expires bigint, out out_reaps boolean)
    comment 'queue_heartbeat without its transaction.
in_worker, in_options, and the errors: those of queue_heartbeat. in_now: the time of the call. out_alive, out_started,
out_expires,
out_reaps: what it answers.
differs: on PostgreSQL it is a part of queue_heartbeat.'
begin
    declare v_looked, v_run bigint;
    declare v_timeout decimal(30,6);
    declare v_seconds decimal(20,6) default 30;
    declare v_kinds, v_info, v_new_kinds, v_new_info longtext character set utf8mb4;
    declare v_session, v_stop, v_new_upkeep, v_several boolean;
    declare v_upkeep boolean default true;
    declare v_lock varchar(64) character set utf8mb4 default concat('pyqueue.worker.',
        left(sha2(concat(connection_id(), '.', database(), '.', in_worker), 256), 40));
    declare continue handler for not found begin end;
    call _queue_check_key(in_worker, 'worker');
    call _queue_check_options(in_options, 'timeout_seconds,kinds,info,session,stop,upkeep', 'options');
    call _queue_number(in_options, 'timeout_seconds', 1, 86400, v_timeout);
    if json_type(json_extract(in_options, '$.kinds')) <> 'NULL' then
        call _queue_check_kinds(json_extract(in_options, '$.kinds'), v_new_kinds);
    end if;
    call _queue_check_headers(json_extract(in_options, '$.info'), 'info', v_new_info);
    call _queue_boolean(in_options, 'session', v_session);
    call _queue_boolean(in_options, 'stop', v_stop);
    call _queue_groups_due(in_now, v_looked);
    call _queue_boolean(in_options, 'upkeep', v_new_upkeep);
    select w.kinds, w.info, w.timeout_seconds, w.upkeep, w.started_at into v_kinds, v_info, v_seconds, v_upkeep,
        out_started
    from queue_worker w where w.worker = in_worker for update;
    set out_alive = not coalesce(v_stop, false), out_reaps = false, out_expires = null,
        out_started = coalesce(out_started, in_now);
    if out_alive and v_session then -- a lock that the other nodes can't see would be no sign of life
        call _queue_several_nodes(v_several);
    end if;
    if v_several = false then
        if coalesce(is_used_lock(v_lock), 0) <> connection_id() then -- it would be counted
            do get_lock(v_lock, 0);
        end if;
    else
        do release_lock(v_lock);
        set v_lock = null;
    end if;
    if out_alive then
        call _queue_server_run(v_run);
        set v_kinds = if(json_contains_path(in_options, 'one', '$.kinds'), v_new_kinds, v_kinds),
            v_info = if(json_contains_path(in_options, 'one', '$.info'), v_new_info, v_info),
            v_seconds = if(json_contains_path(in_options, 'one', '$.timeout_seconds'), coalesce(v_timeout, 30),
            v_seconds), v_upkeep = if(json_contains_path(in_options, 'one', '$.upkeep'), coalesce(v_new_upkeep, true),
            v_upkeep), out_expires = if(v_lock is null, in_now + v_seconds * 1000000, null);
        insert into queue_worker (worker, kinds, info, started_at, heartbeat_at, timeout_seconds, session_lock,
            session_id, upkeep, server_run)
        values (in_worker, v_kinds, v_info, out_started, in_now, v_seconds, v_lock,
            if(v_lock is null, null, connection_id()), v_upkeep, v_run)
        on duplicate key update kinds = v_kinds, info = v_info, heartbeat_at = in_now, timeout_seconds = v_seconds,
            session_lock = v_lock, session_id = if(v_lock is null, null, connection_id()), upkeep = v_upkeep,
            server_run = v_run;
        select v_upkeep and count(*) < 2 into out_reaps from queue_worker w
        where w.upkeep and (w.started_at < out_started or w.started_at = out_started and w.worker < in_worker)
            and not if(w.session_lock is null, w.heartbeat_at + w.timeout_seconds * 1000000 <= in_now,
                    coalesce(is_used_lock(w.session_lock), 0) <> w.session_id);
    else
        delete w from queue_worker w where w.worker = in_worker;
    end if;
end $$
delimiter ;
