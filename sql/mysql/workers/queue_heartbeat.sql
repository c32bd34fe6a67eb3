-- calls: _queue_boolean, _queue_check_headers, _queue_check_kinds, _queue_check_name, _queue_check_options,
--     _queue_groups_due, _queue_number, _queue_server_run, queue_now
-- changes: queue_worker
create procedure queue_heartbeat(in in_worker text collate exact, in in_options longtext)
    comment 'Registers a worker, or says that it is still there. What a registered worker holds is freed as soon as it
is known to be dead, see queue_reap. A worker that never registered is left to the timeouts of its messages.
in_worker: the name that it reserves with, 1 to 200 characters. Each process needs a name of its own, for its whole
life, so that what a dead process held isn''t taken for what the next one holds.
in_options: what isn''t given stays as it is, but for session, which is to be given in each call; null brings the
default back.
- timeout_seconds: the worker is dead when it was silent for so long. Allowed: 1 to 86400 (a day). Default: 30.
- kinds: where it holds messages, so that not all have to be looked through. Allowed: an array of 1 to 100 kinds.
  Default: null (any kind).
- info: what people should see of it. Allowed: an object of strings, numbers, booleans and nulls. Default: none.
- session: the worker is alive as long as this session is, silent or not. For a session of its own, behind no pooler
  that shares sessions. Allowed: true, false. Default: false.
- reconnect_seconds: how long it has to come back once that session has ended. Allowed: 0 to 86400. Default: 0.
- stop: the worker leaves in good order. What it holds is left to the timeouts. Allowed: true, false. Default: false.
- upkeep: whether it may be one that "reaps". Allowed: true, false. Default: true.
Result: worker; alive: false once it has left; started_at, heartbeat_at and expires_at, microseconds, the last NULL
where it is alive by its session or has left; reaps: whether it is one of the two that should call queue_reap every
second, and queue_tick and queue_prune now and then. They are the two living ones with upkeep that registered first:
two, because one of them may be the one that dies.
Errors: PQ001 for worker and kinds, PQ002 for options, PQ003 for info.
Locks: the worker. With session also a lock of the session, which has one until it ends: the sign that its workers are
gone.
Where the idea comes from: the workers of Chapman, which have an identity.
differs: the lock of the session is a named one, which RELEASE_ALL_LOCKS() gives up. Other nodes of a cluster that is
written to at several don''t see it, so there session says nothing and the worker is alive by its heartbeat: expires_at
says until when.'
begin
    declare v_alive, v_reaps boolean;
    declare v_now, v_started, v_expires bigint;
    begin atomic
        declare v_looked, v_run bigint;
        declare v_timeout, v_reconnect decimal(30,6);
        declare v_kinds, v_info longtext;
        declare v_session, v_stop, v_upkeep boolean;
        declare v_others int;
        declare v_lock varchar(64) default concat('pyqueue.worker.',
            left(sha2(concat(connection_id(), '.', database()), 256), 40));
        declare continue handler for not found begin end;
        call queue_now(v_now);
        set v_alive = null, v_started = null, v_expires = null, v_reaps = null;
        call _queue_check_name(in_worker, 200, 'worker');
        call _queue_check_options(in_options, 'timeout_seconds,kinds,info,session,reconnect_seconds,stop,upkeep',
            'options');
        call _queue_number(in_options, 'timeout_seconds', 1, 86400, v_timeout);
        call _queue_number(in_options, 'reconnect_seconds', 0, 86400, v_reconnect);
        if json_type(in_options -> 'kinds') <> 'NULL' then
            call _queue_check_kinds(in_options -> 'kinds', v_kinds);
        end if;
        call _queue_check_headers(in_options -> 'info', 'info', v_info);
        call _queue_boolean(in_options, 'session', v_session);
        call _queue_boolean(in_options, 'stop', v_stop);
        call _queue_groups_due(v_now, v_looked);
        call _queue_boolean(in_options, 'upkeep', v_upkeep);
        call _queue_server_run(v_run);
        select if(w.server_run in (0, v_run) and not _queue_is_alive(w, v_now), null, w.started_at)
        into v_started from queue_worker w where w.worker = in_worker for update;
        set v_alive = not coalesce(v_stop, false), v_reaps = false, v_started = coalesce(v_started, v_now);
        if v_alive and v_session then
            -- a lock that the other nodes can't see would be no sign of life; it takes two milliseconds to find out
            /*M!100600 select count(*) into v_others from information_schema.global_variables v
            where v.variable_name = 'WSREP_ON' and v.variable_value = 'ON'; */
            /*!80017 select count(*) into v_others from performance_schema.global_variables v
            where v.variable_name = 'group_replication_single_primary_mode' and v.variable_value = 'OFF'; */
        end if;
        if v_others = 0 then
            -- kept until the session ends: no rollback would bring back what a call gave up
            if coalesce(is_used_lock(v_lock), 0) <> connection_id() then -- it would be counted
                do get_lock(v_lock, 0);
            end if;
        else
            set v_lock = null;
        end if;
        if v_alive then
            set v_timeout = coalesce(v_timeout, 30), v_reconnect = coalesce(v_reconnect, 0),
                v_upkeep = coalesce(v_upkeep, true);
            insert into queue_worker (worker, kinds, info, started_at, heartbeat_at, timeout_seconds, session_lock,
                session_id, reconnect_seconds, upkeep, server_run)
            values (in_worker, v_kinds, v_info, v_started, v_now, v_timeout, v_lock,
                if(v_lock is null, null, connection_id()), v_reconnect, v_upkeep, v_run)
            on duplicate key update kinds = if(in_options ? 'kinds', v_kinds, kinds),
                info = if(in_options ? 'info', v_info, info),
                timeout_seconds = if(in_options ? 'timeout_seconds', v_timeout, timeout_seconds),
                reconnect_seconds = if(in_options ? 'reconnect_seconds', v_reconnect, reconnect_seconds),
                upkeep = if(in_options ? 'upkeep', v_upkeep, upkeep), started_at = v_started, heartbeat_at = v_now,
                session_lock = v_lock, session_id = if(v_lock is null, null, connection_id()), server_run = v_run;
            select if(v_lock is null, v_now + w.timeout_seconds * 1000000, null), w.upkeep and not exists (
                select 1 from queue_worker o
                where o.upkeep and (o.started_at < v_started or o.started_at = v_started and o.worker < in_worker)
                    and _queue_is_alive(o, v_now) limit 1 offset 1)
            into v_expires, v_reaps from queue_worker w where w.worker = in_worker;
        else
            delete w from queue_worker w where w.worker = in_worker;
        end if;
    end atomic;
    select in_worker as worker, v_alive as alive, v_started as started_at, v_now as heartbeat_at,
        v_expires as expires_at, v_reaps as reaps;
end;
