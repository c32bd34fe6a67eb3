drop procedure if exists _queue_take;
delimiter $$
create procedure _queue_take(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_max int, in in_now bigint, in in_most int,
    out out_entries longtext character set utf8mb4, out out_number int, out out_expired int, out out_ends int)
    comment 'The next messages of a kind, in the order of delivery, locked: all ways of taking a message but the shortest, see
_queue_reserve and _queue_take_bounded.
in_kind: the kind. in_max: how many. in_now: the time of the call. in_most: how many deliveries a message of the kind may have.
Result: see _queue_scan.
Locks: the messages, and as many (20 at the least) that have come due; what others have locked is passed over.

Where entries that died lie before the living ones and can''t be cleaned away, because a read view is open, a scan from the start is
slow. So each session keeps bounds, in @pyqueue_bounds: it scans from where it last found something; every 0.4 s from the older
marks, where the bounds were 3 to 6 s ago, so that what was committed late is found; and from the start 2% of the time, by which
expired holds are found. Where a scan from the start is fast (a millisecond and 5 µs a message; on a busy machine any scan may take
some hundred µs), it keeps none, and the order is exact; with bounds a message that is pushed with a time in the past may come some
seconds late.
bounds, by kind (null: none; [] after one slow scan; kept after two, or one of over 20 ms): 0 when the next look from the start may
come, 1 when one from the marks, 2 when the marks move on; 3 what the last scan from the start took; 4 to 6 bound, newer and older
mark of the timetable; then rank (the priority, negated), bound, newer and older mark of each lane, lanes in order. Times are
microseconds, in 0 to 2 those of _queue_ticks.
differs: no look back in steps, and no notes of the ends of holds: see docs/adr/0003-mariadb-and-mysql.md.'
begin
    declare v_path varchar(1000) character set ascii default concat('$.k', hex(concat(database(), '.', in_kind)));
    declare v_bounds longtext character set utf8mb4;
    declare v_start, v_found, v_took, v_low, v_due, v_first, v_turn bigint;
    declare v_offset int;
    declare v_cold, v_slow, v_new boolean default false;
    call _queue_ticks(v_start);
    if coalesce(json_contains_path(@pyqueue_bounds, 'one', v_path), 0) = 0 then
        set v_cold = true;
        call _queue_read_hint(in_kind, v_path, v_start, in_now);
    end if;
    set v_bounds = json_extract(@pyqueue_bounds, v_path);
    set v_turn = json_extract(v_bounds, '$[2]');
    if v_bounds = 'null' or v_turn > v_start + 4000000 then
        set v_bounds = null; -- the clock was set back: they are of the future
    end if;
    if json_length(v_bounds) > 0 then
        set v_slow = json_extract(v_bounds, '$[3]') > 5000;
        if v_start < json_extract(v_bounds, '$[0]') then
            set v_offset = if(v_start < json_extract(v_bounds, '$[1]'), 0, 2);
        end if;
    end if;
    scans: loop
        set v_low = if(v_offset is null, 0, json_extract(v_bounds, concat('$[', 4 + v_offset, ']')));
        select min(d.due_at) into v_due from delayed_queue d force index (delayed_queue_due)
        where d.p_kind = in_kind and d.due_at between v_low and in_now;
        if v_due is not null then
            call _queue_ticks(v_found);
            call _queue_promote(in_kind, v_low, in_now, if(v_offset is null, 0, in_now - 1000000), in_max, v_first);
            set v_start = v_start - v_found;
            call _queue_ticks(v_found);
            set v_start = v_start + v_found;
        end if;
        if v_offset is null then
            call _queue_scan(in_kind, -32768, 32768, in_now, in_max, in_most, out_entries, out_number, out_expired, out_ends);
        else
            call _queue_scan_lanes(in_kind, v_bounds, v_offset, v_first, in_now, in_max, in_most, out_entries, out_number,
                out_expired, out_ends, v_new);
        end if;
        call _queue_ticks(v_took);
        set v_took = v_took - v_start;
        if out_entries is not null or v_offset is null or v_slow then
            leave scans;
        end if;
        set v_offset = null; -- nothing there: look from the start, unless that is known to be slow
        call _queue_ticks(v_start);
    end loop;
    if v_offset = 0 and not v_new and v_start < v_turn then
        set @pyqueue_bounds = json_set(@pyqueue_bounds, v_path, json_extract(v_bounds, '$'));
    elseif (v_bounds is not null or v_took > 1000 + 5 * in_max)
        and not (v_cold and v_took < 20000) then -- the first call of a session is slow for other reasons
        call _queue_remember(in_kind, v_path, v_bounds, v_offset, v_start, v_took, in_max, out_entries, in_now);
    end if;
end $$
delimiter ;
