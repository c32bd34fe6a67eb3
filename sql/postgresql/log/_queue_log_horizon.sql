create or replace function _queue_log_horizon() returns bigint language plpgsql as $$
declare
    v_last bigint;
    v_floor bigint;
begin
    select s.last_value - case when s.is_called then 0 else 1 end into v_last from queue_log_position_seq s;
    -- a lock has room for 31 bits, and may be newer than the line above
    select min(s.last_value - ((s.last_value - l.objid::bigint) & 2147483647)) into v_floor
    from pg_locks l, queue_log_position_seq s
    where l.locktype = 'advisory' and l.objsubid = 2
        and l.database = (select d.oid from pg_database d where d.datname = current_database())
        and l.classid::bigint = hashoid('queue_log'::regclass)::bigint & 4294967295;
    return least(v_last, v_floor);
end $$;

comment on function _queue_log_horizon() is
$$The position up to which whoever has drawn one has ended: with a snapshot that is taken later all of that can be seen.
The open transactions count that have appended, no others.
Result: the position.
Locks: none.$$;
