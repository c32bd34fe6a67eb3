-- calls: _queue_release_worker, _queue_server_run
-- changes: queue_worker
create procedure _queue_reap(in in_now bigint, in in_max int, in in_spared varchar(200) collate exact,
    out out_reaped longtext)
    comment 'queue_reap without its transaction. Nobody is presumed dead because the server was away: whose last
heartbeat is of another run of it, another node''s included, and who would be dead by that, or was alive by a session
there, is judged by its heartbeat from now on, with all of its timeout; once, until it beats again. So is one whose
heartbeat is of the future, since the clock was set back. Who loses a session has reconnect_seconds for that.
in_now: the time of the call. in_max: how many messages at the most. in_spared: a worker that is there; NULL: nobody
knows of one. out_reaped: a JSON array of arrays: the worker, and how many of its messages were freed.
Locks: the rows of the workers, which others may be reaping: those are passed over; the messages.'
begin
    declare v_left int default in_max;
    declare v_freed int;
    declare v_run bigint;
    declare v_done boolean;
    declare v_kinds, v_away longtext;
    declare v_next, v_worker varchar(200) collate exact;
    declare v_last varchar(200) collate exact default '';
    declare continue handler for not found begin end;
    set out_reaped = '[]';
    call _queue_server_run(v_run);
    -- who was there before the server was away, or its clock was set back, has its timeout to come back; who lost a
    -- session, reconnect_seconds
    select json_arrayagg(o.worker) into v_away
    from (
        select w.worker from queue_worker w
        where w.server_run not in (0, v_run)
            and (w.session_lock is not null or w.heartbeat_at + w.timeout_seconds * 1000000 <= in_now)
            or w.session_lock is null and w.heartbeat_at > in_now
            or if(w.reconnect_seconds > 0 and w.session_lock is not null, not _queue_is_alive(w, in_now), false)
        for update skip locked) o;
    if v_away is not null then
        update unnest(v_away) j (worker varchar(200) collate exact)
            straight_join queue_worker w force index (primary) on w.worker = j.worker
        set w.heartbeat_at = in_now
            - if(w.session_lock is not null and w.server_run in (0, v_run),
                greatest(w.timeout_seconds - w.reconnect_seconds, 0) * 1000000, 0),
            w.server_run = 0, w.session_lock = null, w.session_id = null;
    end if;
    workers: loop
        set v_next = null, v_worker = null, v_kinds = null;
        select w.worker into v_next from queue_worker w
        where w.worker > v_last and not w.worker <=> in_spared and w.server_run in (0, v_run)
            and not _queue_is_alive(w, in_now)
        order by w.worker limit 1;
        if v_next is null or v_left <= 0 then
            leave workers;
        end if;
        -- by now it may be back, or another may have freed what it held
        select w.worker, w.kinds into v_worker, v_kinds from queue_worker w
        where w.worker = v_next and w.server_run in (0, v_run) and not _queue_is_alive(w, in_now)
        for update skip locked;
        if v_worker is not null then
            call _queue_release_worker(v_worker, v_kinds, in_now, v_left, v_freed, v_done);
            set v_left = v_left - v_freed;
            if v_done then
                delete w from queue_worker w where w.worker = v_worker;
            end if;
            if v_done or v_freed > 0 then
                set out_reaped = json_array_append(out_reaped, '$', json_array(v_worker, v_freed + 0));
            end if;
        end if;
        set v_last = v_next;
    end loop;
end;
