drop procedure if exists _queue_remember;
delimiter $$
create procedure _queue_remember(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_path varchar(1000) character set ascii, in in_bounds longtext character set utf8mb4,
    in in_offset int, in in_start bigint, in in_took bigint, in in_max int, in in_entries longtext character set utf8mb4, in in_now bigint)
    comment 'Brings the bounds up to date after a scan, or forgets them where a scan from the start has become fast again.
in_kind: the kind. in_path: where @pyqueue_bounds has it. in_bounds: as they were, see _queue_take. in_offset: where the scan began:
NULL from the start, else see _queue_scan_lanes. in_start: when, in microseconds of the real clock. in_took: how long it took, in microseconds. in_max: how many were
asked for. in_entries: what it found, a JSON array. in_now: the time of the call.
Locks: hints that are past their time; what others have locked is left.'
remember: begin
    declare v_bounds longtext character set utf8mb4 default in_bounds;
    declare v_lane, v_rank int default 7;
    declare v_last, v_due bigint;
    declare v_done boolean default false;
    declare c cursor for
        select q.ready_rank, max(q.ready_at)
        from json_table(coalesce(in_entries, '[]'), '$[*]' columns (entry bigint path '$')) j
            straight_join delayed_queue q force index (primary) on q.entry = j.entry
        group by q.ready_rank order by q.ready_rank;
    if in_offset is null then
        if in_took <= 1000 + 5 * in_max then
            set @pyqueue_bounds = json_set(@pyqueue_bounds, in_path, null);
            call _queue_forget_hints(in_kind, null);
            leave remember;
        elseif in_bounds is null and in_took < 20000 then
            set @pyqueue_bounds = json_set(@pyqueue_bounds, in_path, json_array());
            leave remember;
        elseif coalesce(json_length(in_bounds), 0) = 0 then
            set v_bounds = concat('[0, 0, ', in_start + 3000000, ', 0, ', in_now, ', ', in_now - 3000000, ', ', in_now - 3000000, ']');
        end if;
        set v_bounds = json_set(v_bounds, '$[0]', in_start + greatest(100000, 50 * in_took), '$[3]', in_took + 0);
    elseif in_offset = 2 then
        set v_bounds = json_set(v_bounds, '$[1]', in_start + greatest(400000, 30 * in_took));
    end if;
    set v_due = if(in_offset is null, 0, json_extract(v_bounds, concat('$[', 4 + in_offset, ']')));
    -- without an upper end MariaDB reads the whole timetable
    select coalesce(min(d.due_at), in_now) into v_due from delayed_queue d force index (delayed_queue_due)
    where d.p_kind = in_kind and d.due_at between v_due and in_now;
    -- a mark is never ahead of its bound
    set v_bounds = json_set(v_bounds, '$[4]', v_due + 0, '$[5]', least(json_extract(v_bounds, '$[5]') + 0, v_due),
        '$[6]', least(json_extract(v_bounds, '$[6]') + 0, v_due));
    open c;
    lanes: loop
        begin
            declare continue handler for not found set v_done = true;
            fetch c into v_rank, v_last;
        end;
        if v_done then
            leave lanes;
        end if;
        while json_extract(v_bounds, concat('$[', v_lane, ']')) < v_rank do
            set v_lane = v_lane + 4;
        end while;
        if json_extract(v_bounds, concat('$[', v_lane, ']')) = v_rank then
            set v_bounds = json_set(v_bounds, concat('$[', v_lane + 1, ']'), v_last + 0,
                concat('$[', v_lane + 2, ']'), least(json_extract(v_bounds, concat('$[', v_lane + 2, ']')) + 0, v_last),
                concat('$[', v_lane + 3, ']'), least(json_extract(v_bounds, concat('$[', v_lane + 3, ']')) + 0, v_last));
        elseif json_length(v_bounds) < 7 + 4 * 32 then
            set v_bounds = json_array_insert(v_bounds, concat('$[', v_lane, ']'), v_last - 3000000);
            set v_bounds = json_array_insert(v_bounds, concat('$[', v_lane, ']'), v_last - 3000000);
            set v_bounds = json_array_insert(v_bounds, concat('$[', v_lane, ']'), v_last + 0);
            set v_bounds = json_array_insert(v_bounds, concat('$[', v_lane, ']'), v_rank + 0);
        end if;
    end loop;
    close c;
    if in_start >= json_extract(v_bounds, '$[2]') then
        call _queue_turn_marks(in_kind, in_start, v_bounds, v_bounds);
    end if;
    set @pyqueue_bounds = json_set(@pyqueue_bounds, in_path, json_extract(v_bounds, '$'));
end $$
delimiter ;
