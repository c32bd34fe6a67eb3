-- calls: _queue_log_horizon, _queue_read
create procedure _queue_log_known(in in_own boolean, in in_now bigint, in in_name text collate exact,
    in in_matcher text collate exact, in in_events text collate exact, in in_place bigint, in in_max int,
    in in_last bigint, out out_known bigint)
    comment 'Up to which position the log is complete in the eyes of the caller''s transaction. In a call that is its
own transaction that is the horizon. A snapshot that is kept may be older than the end of a transaction that isn''t open
any more; so there it is what was known before it was taken, and what follows without a gap.
in_own: see _queue_begin. in_now: the time of the call. in_name, in_matcher, in_events, in_place: the reader; up to its
place the log is complete. in_max: how many messages it wants. in_last: the last position that it sees.
Result: the position.
Locks: as _queue_log_horizon; in the caller''s transaction none.
differs: the result is out_known. PostgreSQL needs no transaction of its own, but READ COMMITTED.'
begin
    declare v_last, v_rows bigint;
    if in_own then
        call _queue_log_horizon(in_now, out_known);
    else
        select greatest(in_place, coalesce(max(n.position), 0)) into out_known from queue_log_known n;
        call _queue_read(in_name, in_matcher, in_events, in_place, in_max, in_last, v_rows, v_last);
        set v_last = coalesce(v_last, in_last);
        if v_last > out_known and v_last - out_known <= 100000 then
            select count(*) into v_rows from queue_log l where l.position > out_known and l.position <= v_last;
            if v_rows = v_last - out_known then
                set out_known = v_last;
            end if;
        end if;
    end if;
end;
