-- calls: _queue_boolean, _queue_check_headers, _queue_check_kinds, _queue_check_name, _queue_check_options,
--     _queue_groups_due, _queue_is_alive, _queue_number, _queue_server_run, _queue_session_locks, queue_now
-- changes: queue_worker
create or replace function queue_heartbeat(in_worker text, in_options jsonb default null, out worker text,
    out alive boolean, out started_at bigint, out heartbeat_at bigint, out expires_at bigint, out reaps boolean)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan set jit = off as $$
declare
    v_now constant bigint := queue_now();
    v_run constant bigint := _queue_server_run();
    v_class constant integer := hashoid('queue_worker'::regclass);
    v_new queue_worker; v_old queue_worker;
    v_lock integer; v_alive boolean;
begin
    perform _queue_check_name(in_worker, 200, 'worker');
    perform _queue_check_options(in_options, '{timeout_seconds, kinds, info, session, reconnect_seconds, stop,
        upkeep}'::text[], 'options');
    v_new.timeout_seconds := _queue_number(in_options, 'timeout_seconds', 1::numeric, 86400::numeric);
    v_new.reconnect_seconds := _queue_number(in_options, 'reconnect_seconds', 0::numeric, 86400::numeric);
    if jsonb_typeof(in_options -> 'kinds') <> 'null' then
        v_new.kinds := to_jsonb(_queue_check_kinds(in_options -> 'kinds'));
    end if;
    v_new.info := _queue_check_headers(in_options -> 'info', 'info');
    v_new.upkeep := coalesce(_queue_boolean(in_options, 'upkeep'), true);
    worker := in_worker;
    alive := not coalesce(_queue_boolean(in_options, 'stop'), false);
    heartbeat_at := v_now;
    select w.* into v_old from queue_worker w where w.worker = in_worker for update;
    v_alive := v_old.server_run not in (0, v_run) or _queue_is_alive(v_old, v_now);
    if alive and coalesce(_queue_boolean(in_options, 'session'), false) then
        -- kept until the session ends: no rollback would bring back what a call gave up
        v_new.session_lock := (_queue_session_locks())[1];
        v_new.session_id := pg_backend_pid();
        while v_new.session_lock is null loop
            v_lock := (random() * 4294967295)::bigint - 2147483648;
            v_new.session_lock := case when pg_try_advisory_lock(v_class, v_lock) then v_lock end;
        end loop;
    end if;
    perform _queue_groups_due(v_now);
    if not alive then
        delete from queue_worker w where w.worker = in_worker;
        started_at := case when v_alive then v_old.started_at else v_now end;
        reaps := false;
        return;
    end if;
    insert into queue_worker as w (worker, kinds, info, started_at, heartbeat_at, timeout_seconds, session_lock,
        session_id, reconnect_seconds, upkeep, server_run)
    values (in_worker, v_new.kinds, v_new.info, v_now, v_now, coalesce(v_new.timeout_seconds, 30), v_new.session_lock,
        v_new.session_id, coalesce(v_new.reconnect_seconds, 0), v_new.upkeep, v_run)
    on conflict on constraint queue_worker_pkey do update
    set kinds = case when in_options ? 'kinds' then excluded.kinds else w.kinds end,
        info = case when in_options ? 'info' then excluded.info else w.info end,
        timeout_seconds = case when in_options ? 'timeout_seconds' then excluded.timeout_seconds
        else w.timeout_seconds end, started_at = case when v_alive then w.started_at else excluded.started_at end,
        reconnect_seconds = case when in_options ? 'reconnect_seconds' then excluded.reconnect_seconds
        else w.reconnect_seconds end,
        upkeep = case when in_options ? 'upkeep' then excluded.upkeep else w.upkeep end, heartbeat_at = v_now,
        session_lock = excluded.session_lock, session_id = excluded.session_id, server_run = v_run
    returning w.* into v_new;
    started_at := v_new.started_at;
    expires_at := case when v_new.session_lock is null then v_now + v_new.timeout_seconds * 1000000 end;
    reaps := v_new.upkeep and not exists (
        select from queue_worker w
        where w.upkeep and (w.started_at, w.worker) < (v_new.started_at, in_worker) and _queue_is_alive(w, v_now)
        offset 1);
end $$;

comment on function queue_heartbeat(text, jsonb) is
$$Registers a worker, or says that it is still there. What a registered worker holds is freed as soon as it is known to
be dead, see queue_reap. A worker that never registered is left to the timeouts of its messages.
in_worker: the name that it reserves with, 1 to 200 characters. Each process needs a name of its own, for its whole
life, so that what a dead process held isn't taken for what the next one holds.
in_options: what isn't given stays as it is, but for session, which is to be given in each call; null brings the
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
Where the idea comes from: the workers of Chapman, which have an identity.$$;
