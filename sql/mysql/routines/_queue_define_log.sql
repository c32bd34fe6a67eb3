drop procedure if exists _queue_define_log;
delimiter $$
create procedure _queue_define_log(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_options longtext character set utf8mb4)
    comment 'Sets log_seconds of a kind, and makes the first epoch of the log.
in_kind, in_options: those of queue_define.
Errors: PQ002.
differs: on PostgreSQL it is a part of queue_define.'
begin
    declare v_log decimal(30,6);
    declare v_there int;
    if json_contains_path(in_options, 'one', '$.log_seconds') then
        call _queue_number(in_options, 'log_seconds', 0, 315360000, v_log);
        update queue_kind k set k.log_seconds = coalesce(v_log, 0) where k.p_kind = in_kind;
        select count(*) into v_there from queue_log_epoch e where e.floor = 0 and e.id = 0;
        if v_there = 0 then
            insert into queue_log_epoch (floor, id) values (0, 0) on duplicate key update floor = 0;
        end if;
    end if;
end $$
delimiter ;
