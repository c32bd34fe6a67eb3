-- calls: _queue_keep_cursor, _queue_promote, _queue_scan, _queue_shared_cursor, _queue_ticks
create procedure _queue_take(in in_kind varchar(100) collate exact, in in_max int, in in_now bigint,
    in in_most int, out out_entries longtext, out out_number int, out out_expired int, out out_ends int)
    comment 'The next messages of a kind, in the order of delivery, locked: all ways of taking a message but the
shortest, see _queue_reserve and _queue_take_onward.
in_kind: the kind. in_max: how many. in_now: the time of the call. in_most: how many deliveries a message of the kind
may have.
Result: see _queue_scan.
Locks: the messages, and as many (20 at the least) that have come due; what others have locked is passed over.

Where entries that died lie before the living ones and can''t be cleaned away, because a read view is open, a scan from
the start is slow. So each session keeps a cursor, in @pyqueue_cursors: it scans from where it last found something;
every 0.4 s from the older marks, where the cursor was 3 to 6 s ago, so that what was committed late is found; and from
the start 2% of the time, by which expired holds are found. Where a scan from the start is fast (a millisecond and 15 µs
a message; on a busy machine any scan may take some hundred µs), it keeps none, and the order is exact; with one a
message that is pushed with a time in the past may come some seconds late.
A cursor, by kind (null: none; {} after one slow scan; whole after two, or one of over 20 ms): start_at, marks_at: when
the next look from the start and from the marks may come; turn_at: when the marks move on; took: how long the last scan
from the start took; due, due_newer, due_older: where the timetable begins, and its marks; lanes, in order: rank (the
priority, negated), place, entry (of those there), newer and older (the marks of the place). Times are microseconds, the
first three of _queue_ticks.
differs: no look back in steps, and no notes of the ends of holds: see docs/adr/0003-mariadb-and-mysql.md.'
begin
    declare v_path varchar(1200) character set ascii default concat('$.k', hex(concat(database(), '.', in_kind)));
    declare v_cursor, v_entries, v_part longtext;
    declare v_start, v_found, v_took, v_low, v_due, v_first, v_place, v_entry, v_last, v_turn bigint;
    declare v_lane, v_before, v_rank, v_between, v_number, v_expired, v_ends int;
    declare v_from varchar(6) character set ascii default 'start';
    declare v_cold, v_slow, v_new boolean default false;
    call _queue_ticks(v_start);
    if coalesce(json_contains_path(@pyqueue_cursors, 'one', v_path), 0) = 0 then
        set v_cold = true;
        call _queue_shared_cursor(in_kind, v_path, v_start, in_now);
    end if;
    set v_cursor = json_extract(@pyqueue_cursors, v_path), v_turn = v_cursor -> 'turn_at';
    if v_cursor = 'null' or v_turn > v_start + 4000000 then
        set v_cursor = null; -- the clock was set back: it is of the future
    end if;
    if json_length(v_cursor) > 0 then
        set v_slow = v_cursor -> 'took' > 5000;
        if v_start < v_cursor -> 'start_at' then
            set v_from = if(v_start < v_cursor -> 'marks_at', 'cursor', 'marks');
        end if;
    end if;
    scans: loop
        set v_low = case v_from when 'start' then 0 when 'marks' then v_cursor -> 'due_older' + 0
            else v_cursor -> 'due' + 0 end;
        select min(d.due_at) into v_due from delayed_queue d force index (delayed_queue_due)
        where d.p_kind = in_kind and d.due_at between v_low and in_now;
        if v_due is not null then
            call _queue_ticks(v_found);
            call _queue_promote(in_kind, v_low, in_now, if(v_from = 'start', 0, in_now - 1000000), in_max, v_first);
            set v_start = v_start - v_found;
            call _queue_ticks(v_found);
            set v_start = v_start + v_found;
        end if;
        if v_from = 'start' then
            call _queue_scan(in_kind, null, null, null, in_now, in_max, in_most, out_entries, out_number, out_expired,
                out_ends, v_last);
        else -- each lane from its place in the cursor, or from its older mark
            set out_entries = null, out_number = 0, out_expired = 0, out_ends = 0, v_lane = 0, v_before = -32769,
                v_rank = json_extract(v_cursor, '$.lanes[0].rank');
            while out_number < in_max and v_before < 32768 do
                select min(q.ready_rank) into v_between from delayed_queue q force index (delayed_queue_ready)
                where q.ready_kind = in_kind and q.ready_rank between v_before + 1 and coalesce(v_rank - 1, 32768);
                if v_between is not null then -- a priority that has no lane
                    call _queue_scan(in_kind, v_between, -9223372036854775807, 0, in_now, in_max - out_number, in_most,
                        v_entries, v_number, v_expired, v_ends, v_last);
                    set v_new = v_new or v_number > 0, v_before = v_between;
                elseif v_rank is null then
                    set v_entries = null, v_before = 32768;
                else
                    set v_part = concat('$.lanes[', v_lane, ']'),
                        v_place = json_extract(v_cursor, concat(v_part, if(v_from = 'marks', '.older', '.place'))) + 0,
                        v_entry = if(v_from = 'cursor' and v_place < coalesce(v_first, in_now + 1),
                            coalesce(cast(json_extract(v_cursor, concat(v_part, '.entry')) as signed), 0), 0),
                        v_place = least(v_place, coalesce(v_first, in_now));
                    call _queue_scan(in_kind, v_rank, v_place, v_entry, in_now, in_max - out_number, in_most, v_entries,
                        v_number, v_expired, v_ends, v_last);
                    if v_number > 0 then
                        set v_cursor = json_set(v_cursor, concat(v_part, '.place'), v_last + 0, concat(v_part,
                            '.entry'), cast(json_extract(v_entries, concat('$[', v_number - 1, ']')) as signed));
                    end if;
                    set v_before = v_rank, v_lane = v_lane + 1;
                    set v_rank = json_extract(v_cursor, concat('$.lanes[', v_lane, '].rank'));
                end if;
                if v_entries is not null then
                    set out_entries = if(out_entries is null, v_entries, json_merge_preserve(out_entries, v_entries)),
                        out_number = out_number + v_number, out_expired = out_expired + v_expired,
                        out_ends = out_ends + v_ends;
                end if;
            end while;
        end if;
        call _queue_ticks(v_took);
        set v_took = v_took - v_start;
        if out_entries is not null or v_from = 'start' or v_slow then
            leave scans;
        end if;
        set v_from = 'start'; -- nothing there: look from the start, unless that is known to be slow
        call _queue_ticks(v_start);
    end loop;
    if v_from = 'cursor' and not v_new and v_start < v_turn then
        set @pyqueue_cursors = json_set(@pyqueue_cursors, v_path, json_extract(v_cursor, '$'));
    elseif (v_cursor is not null or v_took > 1000 + 15 * in_max)
        and not (v_cold and v_took < 20000) then -- the first call of a session is slow for other reasons
        call _queue_keep_cursor(in_kind, v_path, v_cursor, v_from, v_start, v_took, in_max, out_entries, in_now);
    end if;
end;
