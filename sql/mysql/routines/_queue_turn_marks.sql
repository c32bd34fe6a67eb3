drop procedure if exists _queue_turn_marks;
delimiter $$
create procedure _queue_turn_marks(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_start bigint, in in_bounds longtext character set utf8mb4, out out_bounds longtext character set utf8mb4)
    comment 'Moves the marks on to where the bounds are now, every 3 s, and leaves a hint for sessions that have no bounds, where a scan from
the start takes more than 5 ms.
in_kind: the kind. in_start: when the scan began, in microseconds of _queue_ticks. in_bounds: see _queue_take. out_bounds: as they are
now.
differs: on PostgreSQL _queue_remember does it.'
begin
    declare v_lane int default 7;
    declare v_id bigint;
    set out_bounds = json_set(in_bounds, '$[2]', in_start + 3000000, '$[6]', json_extract(in_bounds, '$[5]') + 0,
        '$[5]', json_extract(in_bounds, '$[4]') + 0);
    while v_lane < json_length(out_bounds) do
        set out_bounds = json_set(out_bounds,
            concat('$[', v_lane + 3, ']'), json_extract(out_bounds, concat('$[', v_lane + 2, ']')) + 0,
            concat('$[', v_lane + 2, ']'), json_extract(out_bounds, concat('$[', v_lane + 1, ']')) + 0);
        set v_lane = v_lane + 4;
    end while;
    if json_extract(out_bounds, '$[3]') > 5000 then
        call _queue_entry(v_id); -- the newest counts
        insert into queue_hint (id, p_kind, bounds) values (v_id, in_kind, out_bounds);
        call _queue_forget_hints(in_kind, v_id);
    end if;
end $$
delimiter ;
