create or replace function _queue_reap(in_now bigint) returns table (worker text, freed integer) language plpgsql as $$
declare
    v_left integer := 1000;
    v_worker record;
begin
    for v_worker in
        select w.worker, w.kinds from queue_worker w
        where not _queue_is_alive(w.session_lock, w.session_id, (w.heartbeat_at + w.timeout_seconds * 1000000)::bigint, in_now)
        order by w.worker for update skip locked
    loop
        worker := v_worker.worker;
        freed := _queue_free(worker, v_worker.kinds, in_now, v_left);
        v_left := v_left - freed;
        return next;
        exit when v_left = 0; -- it may hold more
        delete from queue_worker w where w.worker = v_worker.worker;
    end loop;
end $$;

comment on function _queue_reap(bigint) is
$$Frees what dead workers held, and forgets them.
in_now: the time of the call.
Result and locks: those of queue_reap.$$;
