-- calls: _queue_is_alive, _queue_release_worker, _queue_server_run
-- changes: queue_worker
create or replace function _queue_reap(in_now bigint) returns table (worker text, freed integer) language plpgsql as $$
declare
    v_run constant bigint := _queue_server_run();
    v_left integer := 1000;
    v_worker record;
    v_done boolean;
begin
    -- who was there before the server was away, or its clock was set back, has its timeout to come back; who lost a
    -- session, reconnect_seconds
    update queue_worker w set server_run = 0, session_lock = null, session_id = null,
        heartbeat_at = in_now - case when w.session_lock is not null and w.server_run in (0, v_run)
            then greatest(w.timeout_seconds - w.reconnect_seconds, 0) * 1000000 else 0 end
    where w.worker = any (array(
        select o.worker from queue_worker o
        where o.server_run not in (0, v_run) or o.session_lock is null and o.heartbeat_at > in_now
            or o.reconnect_seconds > 0 and o.session_lock is not null
            and not _queue_is_alive(o, in_now)
        for update skip locked));
    for v_worker in
        select w.worker, w.kinds from queue_worker w
        where not _queue_is_alive(w, in_now)
        order by w.worker for update skip locked
    loop
        worker := v_worker.worker;
        select r.freed, r.done into freed, v_done
        from _queue_release_worker(worker, v_worker.kinds, in_now, v_left) r;
        v_left := v_left - freed;
        if v_done then
            delete from queue_worker w where w.worker = v_worker.worker;
        end if;
        if v_done or freed > 0 then
            return next;
        end if;
        exit when v_left = 0;
    end loop;
end $$;

comment on function _queue_reap(bigint) is
$$Frees what dead workers held, and forgets them. Nobody is presumed dead because the server was away: whose last
heartbeat is of another run of it, another node's included, is judged by its heartbeat from now on, with all of its
timeout; once, until it beats again. So is one whose heartbeat is of the future, since the clock was set back. Who loses
a session has reconnect_seconds for that.
in_now: the time of the call.
Result and locks: those of queue_reap.$$;
