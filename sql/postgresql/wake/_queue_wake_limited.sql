-- calls: _queue_is_heard, _queue_setting, _queue_ticks
create or replace function _queue_wake_limited(in_kind text) returns void language plpgsql as $$
declare
    v_slot constant integer := hashtext(in_kind) & 15;
    v_time constant bigint := _queue_ticks();
    v_name text := _queue_setting('freed ' || v_slot);
begin
    if v_time - coalesce(nullif(current_setting(v_name, true), '')::bigint, 0) not between 0 and 49999
        and _queue_is_heard(in_kind) then
        v_name := set_config(v_name, v_time::text, false);
        perform pg_notify('pyqueue_' || v_slot, in_kind);
    end if;
end $$;

comment on function _queue_wake_limited(text) is
$$Notifies the sessions that wait for a kind with max_reserved, if there are any, that a message of it has ended: there
may be room. A session does so once in 50 ms a channel: who waits looks again 50 ms after each event, and each second
while there is no room. What it did last is rolled back with its transaction.
in_kind: the kind.
Locks: as _queue_is_heard.
differs: only here. MariaDB and MySQL have no NOTIFY; queue_wait looks.$$;
