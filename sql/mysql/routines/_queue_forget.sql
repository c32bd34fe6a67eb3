drop procedure if exists _queue_forget;
delimiter $$
create procedure _queue_forget(in in_entry bigint)
    comment 'Removes a message of which nothing is kept but what it counts for in queue_stats.
in_entry: the message, locked already; NULL: none.'
begin
    declare v_names longtext character set utf8mb4;
    select max(q.semaphores) into v_names from delayed_queue q where q.entry = in_entry and q.semaphores is not null;
    call _queue_slot_note(in_entry, v_names);
    insert into queue_count (id, p_kind, pushed, reserved)
    select uuid_short(), q.p_kind, q.source_kind is null, q.deliveries from delayed_queue q where q.entry = in_entry;
    delete q from delayed_queue q where q.entry = in_entry;
end $$
delimiter ;
