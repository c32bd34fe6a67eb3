drop procedure if exists _queue_forget;
delimiter $$
create procedure _queue_forget(in in_entry bigint)
    comment 'Removes a message of which nothing is kept but what it counts for in queue_stats.
in_entry: the message, locked already; NULL: none.'
begin
    insert into queue_count (id, p_kind, pushed, reserved)
    select uuid_short(), q.p_kind, q.source_kind is null, q.deliveries from delayed_queue q where q.entry = in_entry;
    delete q from delayed_queue q where q.entry = in_entry;
end $$
delimiter ;
