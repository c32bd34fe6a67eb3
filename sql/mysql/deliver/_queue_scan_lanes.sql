-- calls: _queue_scan
create procedure _queue_scan_lanes(in in_kind text collate exact,
    inout out_cursor longtext character set utf8mb4, in in_from varchar(6) character set ascii, in in_first bigint,
    in in_now bigint, in in_max int, in in_most int, out out_entries longtext character set utf8mb4, out out_number int,
    out out_expired int, out out_ends int, out out_new boolean)
    comment 'The next messages of a kind, each priority from its place in the cursor or from its older mark.
out_cursor: see _queue_take; its places are moved to what is found. in_from: cursor (its places) or marks (its older
marks). in_first: the first place that was given to what has just come due; NULL: nothing has. out_new: whether a
priority was found that has no lane.
The other parameters, the result and the locks are those of _queue_scan.
differs: on PostgreSQL _queue_scan reads all lanes in one statement.'
begin
    declare v_lane, v_before, v_rank, v_between, v_number, v_expired, v_ends int;
    declare v_last bigint;
    declare v_entries longtext character set utf8mb4;
    set out_entries = null, out_number = 0, out_expired = 0, out_ends = 0, out_new = false;
    set v_lane = 0, v_before = -32769, v_rank = json_extract(out_cursor, '$.lanes[0].rank');
    while out_number < in_max and v_before < 32768 do
        select min(q.ready_rank) into v_between from delayed_queue q force index (delayed_queue_ready)
        where q.ready_kind = in_kind and q.ready_rank between v_before + 1 and coalesce(v_rank - 1, 32768);
        if v_between is not null then -- a priority that has no lane
            call _queue_scan(in_kind, v_between, -9223372036854775807, in_now, in_max - out_number, in_most,
                v_entries, v_number, v_expired, v_ends, v_last);
            set out_new = out_new or v_number > 0, v_before = v_between;
        elseif v_rank is null then
            set v_entries = null, v_before = 32768;
        else
            call _queue_scan(in_kind, v_rank, least(
                json_extract(out_cursor, concat('$.lanes[', v_lane, if(in_from = 'marks', '].older', '].place'))) + 0,
                coalesce(in_first, in_now)), in_now, in_max - out_number, in_most, v_entries, v_number, v_expired,
                v_ends, v_last);
            if v_number > 0 then
                set out_cursor = json_set(out_cursor, concat('$.lanes[', v_lane, '].place'), v_last + 0);
            end if;
            set v_before = v_rank, v_lane = v_lane + 1;
            set v_rank = json_extract(out_cursor, concat('$.lanes[', v_lane, '].rank'));
        end if;
        if v_entries is not null then
            set out_entries = if(out_entries is null, v_entries, json_merge_preserve(out_entries, v_entries)),
                out_number = out_number + v_number, out_expired = out_expired + v_expired, out_ends = out_ends + v_ends;
        end if;
    end while;
end;
