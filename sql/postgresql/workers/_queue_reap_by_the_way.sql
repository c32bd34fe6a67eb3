-- calls: _queue_is_alive, _queue_reap, _queue_setting
create or replace function _queue_reap_by_the_way(in_now bigint) returns void language plpgsql as $$
declare
    v_name constant text := _queue_setting('reap');
    v_since constant bigint := nullif(current_setting(v_name, true), '')::bigint;
begin
    if v_since <= in_now then
        if (select bool_and(v_since + w.timeout_seconds * 1000000 <= in_now) from queue_worker w
            where not _queue_is_alive(w.session_lock, w.session_id,
                (w.heartbeat_at + w.timeout_seconds * 1000000)::bigint, in_now)) then
            perform _queue_reap(in_now);
        end if;
    else
        perform set_config(v_name, in_now::text, false);
    end if;
end $$;

comment on function _queue_reap_by_the_way(bigint) is
$$queue_reap from within queue_reserve and queue_pop. A session that is new here doesn't: whatever ended the one that
its client had before may have ended those of workers that live. They have the timeout of their heartbeat to come back.
in_now: the time of the call.
Locks: as _queue_reap.$$;
