drop procedure if exists _queue_define_expires;
delimiter $$
create procedure _queue_define_expires(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_options longtext character set utf8mb4)
    comment 'Sets expires_seconds of a kind, notes that it is used, and clears a few others away that are not.
in_kind, in_options: those of queue_define.
Errors: PQ002.
Locks: those of _queue_expire.
differs: on PostgreSQL it is a part of queue_define.'
begin
    declare v_now, v_gone bigint;
    declare v_expires decimal(30,6);
    call queue_now(v_now);
    if json_contains_path(in_options, 'one', '$.expires_seconds') then
        call _queue_number(in_options, 'expires_seconds', 1, 315360000, v_expires);
        update queue_kind k set k.expires_seconds = v_expires where k.p_kind = in_kind;
    end if;
    select max(k.expires_seconds) into v_expires from queue_kind k where k.p_kind = in_kind;
    if v_expires is not null then
        insert into queue_use (id, p_kind, used_at) values (uuid_short(), in_kind, v_now);
        call _queue_expire(v_now, 1000, v_gone);
    end if;
end $$
delimiter ;
