-- calls: _queue_permits_settle
create or replace function _queue_permits_sweep(in_now bigint) returns void language plpgsql
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_names constant text[] := array(
        select s.name from queue_semaphore s
        where ( -- not EXISTS: that may be planned as a scan of all that wait
                select w.entry from queue_semaphore_wait w
                where w.name between s.name and s.name order by w.name, w.entry limit 1) is not null
            and s.capacity > (select count(*) from queue_semaphore_permit h
                where h.name = s.name and (h.until < 0 or h.until > in_now))
        order by s.name limit 1000);
begin
    perform _queue_permits_settle(null::bigint[], v_names, false, in_now) where v_names <> '{}';
end $$;

comment on function _queue_permits_sweep(bigint) is
$$Wakes who waits for a semaphore of which permits are free or their holds have expired, in whatever kind.
in_now: the time of the call.
Locks: 1000 semaphores at the most, then as _queue_permits_next; what others have locked is left.$$;
