drop procedure if exists _queue_read_hint;
delimiter $$
create procedure _queue_read_hint(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_path varchar(1000) character set ascii, in in_start bigint,
    in in_now bigint)
    comment 'Takes over the bounds that another session left, for a session that has none yet for this kind; nothing where there are none, or they
are of the future.
in_kind: the kind. in_path: where @pyqueue_bounds has the kind. in_start: the real time, in microseconds. in_now: the time of the call.'
begin
    declare v_bounds longtext character set utf8mb4 default 'null';
    declare v_lane int default 7;
    declare continue handler for not found begin end;
    select h.bounds into v_bounds from queue_hint h force index (queue_hint_kind)
    where h.p_kind = in_kind order by h.id desc limit 1;
    while v_lane < coalesce(json_length(v_bounds), 0) and v_bounds <> 'null' do
        if json_extract(v_bounds, concat('$[', v_lane + 1, ']')) > in_now then
            set v_bounds = 'null';
        end if;
        set v_lane = v_lane + 4;
    end while;
    if v_bounds <> 'null' and rand() < 0.95 then
        -- many that come new needn't all look from the marks at once
        set v_bounds = json_set(v_bounds, '$[1]', in_start + 1000000);
    end if;
    set @pyqueue_bounds = json_set(coalesce(@pyqueue_bounds, '{}'), in_path, json_extract(v_bounds, '$'));
end $$
delimiter ;
