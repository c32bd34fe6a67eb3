drop procedure if exists _queue_forget;
delimiter $$
create procedure _queue_forget(in in_entry bigint)
    comment 'Removes a message of which nothing is kept but what it counts for in queue_stats; the next in the line of its order key
takes its place.
in_entry: the message, locked already; NULL: none.'
begin
    declare v_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_order varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_names longtext character set utf8mb4;
    declare v_now bigint;
    declare continue handler for not found begin end;
    select q.p_kind, q.order_key, q.semaphores into v_kind, v_order, v_names from delayed_queue q where q.entry = in_entry for update;
    call _queue_slot_note(in_entry, v_names);
    insert into queue_count (id, p_kind, pushed, reserved)
    select uuid_short(), q.p_kind, q.source_kind is null, q.deliveries from delayed_queue q where q.entry = in_entry;
    delete q from delayed_queue q where q.entry = in_entry;
    if v_order is not null then
        call queue_now(v_now);
        call _queue_advance(v_kind, v_order, in_entry, v_now);
    end if;
end $$
delimiter ;
