drop procedure if exists _queue_scan_lanes;
delimiter $$
create procedure _queue_scan_lanes(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_bounds longtext character set utf8mb4, in in_offset int, in in_first bigint,
    in in_now bigint, in in_max int, in in_most int, out out_entries longtext character set utf8mb4, out out_number int, out out_expired int,
    out out_ends int)
    comment 'The next messages of a kind, each priority from its bound or its older mark.
in_bounds: see _queue_take. in_offset: 0 from the bounds, 2 from the older marks. in_first: the first place that was given to what has
just come due; NULL: nothing has. The other parameters, the result and the locks are those of _queue_scan.'
begin
    declare v_lane, v_before, v_rank, v_number, v_expired, v_ends int;
    declare v_part tinyint default 0;
    declare v_entries longtext character set utf8mb4;
    set out_number = 0;
    set out_expired = 0;
    set out_ends = 0;
    set v_lane = 7;
    set v_before = -32769;
    while out_number < in_max and v_before < 32768 do
        set v_rank = coalesce(json_extract(in_bounds, concat('$[', v_lane, ']')), 32769);
        set v_entries = null;
        if v_part = 0 then -- what stands between two lanes
            if v_before + 1 < v_rank then
                call _queue_scan(in_kind, v_before + 1, v_rank - 1, null, in_now, in_max - out_number, in_most, v_entries, v_number,
                    v_expired, v_ends);
            end if;
            set v_part = 1;
            if v_rank = 32769 then
                set v_before = 32768;
            end if;
        else
            call _queue_scan(in_kind, v_rank, v_rank, least(json_extract(in_bounds, concat('$[', v_lane + 1 + in_offset, ']')),
                coalesce(in_first, in_now)), in_now, in_max - out_number, in_most, v_entries, v_number, v_expired, v_ends);
            set v_part = 0;
            set v_before = v_rank;
            set v_lane = v_lane + 4;
        end if;
        if v_entries is not null then
            set out_entries = if(out_entries is null, v_entries, json_merge_preserve(out_entries, v_entries));
            set out_number = out_number + v_number;
            set out_expired = out_expired + v_expired;
            set out_ends = out_ends + v_ends;
        end if;
    end while;
end $$
delimiter ;
