drop procedure if exists _queue_use;
delimiter $$
create procedure _queue_use(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_expires decimal(20,6), in in_now bigint)
    comment 'Notes that a kind with expires_seconds is used, once in a quarter of that time.
in_kind: the kind. in_expires: its expires_seconds. in_now: the time of the call.
Locks: none.'
begin
    declare v_used bigint;
    select max(u.used_at) into v_used from queue_use u where u.p_kind = in_kind;
    if coalesce(v_used <= in_now - in_expires * 250000, true) then
        insert into queue_use (id, p_kind, used_at) values (uuid_short(), in_kind, in_now);
    end if;
end $$
delimiter ;
