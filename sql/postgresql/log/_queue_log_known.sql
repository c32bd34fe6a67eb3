-- calls: _queue_log_horizon, _queue_read
-- changes: queue_log_known
create or replace function _queue_log_known(in_reader queue_reader, in_max integer,
    in_last bigint) returns bigint language plpgsql set enable_seqscan = off as $$
declare
    v_horizon constant bigint := _queue_log_horizon();
    v_known bigint;
    v_last bigint;
begin
    if current_setting('transaction_isolation') in ('read committed', 'read uncommitted') then
        if random() < 0.01 then -- not with a snapshot that is kept, to which others would have deleted the same
            delete from queue_log_known n
            where n.ctid = any (array(
                select o.ctid from queue_log_known o
                    where o.position < (select m.position from queue_log_known m order by m.position desc limit 1)
                order by o.position limit 1000 for update skip locked));
        end if;
        return v_horizon;
    end if;
    v_known := greatest(in_reader.position,
        (select n.position from queue_log_known n order by n.position desc limit 1));
    if v_horizon > v_known then
        insert into queue_log_known (position) values (v_horizon);
    end if;
    select coalesce(max(r.position), in_last) into v_last from _queue_read(in_reader, in_max, in_last) r;
    if v_last > v_known and v_last - v_known <= 100000 and v_last - v_known = (
        select count(*) from queue_log l where l.position > v_known and l.position <= v_last) then
        return v_last;
    end if;
    return v_known;
end $$;

comment on function _queue_log_known(queue_reader, integer, bigint) is
$$Up to which position the log is complete in the eyes of the caller's transaction. In READ COMMITTED that is the
horizon. A snapshot that is kept may be older than the end of a transaction that isn't open any more; so there it is
what was known before it was taken, and what follows without a gap. What is known now is noted for later.
in_reader: who reads; up to its place the log is complete. in_max: how many messages it wants. in_last: the last
position that it sees.
Result: the position.
Locks: none; notes that others have locked are left.$$;
