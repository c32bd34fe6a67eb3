-- calls: _queue_line_up
-- changes: delayed_queue
drop procedure if exists _queue_carry_semaphores;
delimiter $$
create procedure _queue_carry_semaphores(in in_kind text collate exact, in in_key text collate exact,
    in in_names longtext character set utf8mb4)
    comment 'A new entry names the semaphores that the old one did, and waits for them.
in_kind, in_key: the new one. in_names: the semaphores, a JSON array.
differs: on PostgreSQL it is a part of _queue_carry_route.'
begin
    declare v_entry bigint;
    select min(q.entry) into v_entry from delayed_queue q where q.p_kind = in_kind and q.p_key = in_key for update;
    update delayed_queue q set q.semaphores = in_names where q.entry = v_entry;
    call _queue_line_up(v_entry);
end $$
delimiter ;
