-- calls: _queue_permits_note
-- changes: delayed_queue, queue_kind, queue_semaphore_wait
drop procedure if exists _queue_line_up;
delimiter $$
create procedure _queue_line_up(in in_entry bigint)
    comment 'Puts a message that names semaphores in line for them, out of the ready line; _queue_permits_settle wakes
those for which there is room. What is delayed waits for its time first. Their kind is marked, so that queue_reserve
knows.
in_entry: the message; one without semaphores, and a dead letter, which needs none, stays as it is.
Locks: the message; the settings of a kind that had no such message before.
differs: one message, which is noted for the end of the call.'
begin
    declare v_kind varchar(100) collate exact;
    declare v_names longtext character set utf8mb4;
    declare v_due boolean;
    declare v_marked int;
    declare continue handler for not found begin end;
    select q.p_kind, q.semaphores, q.due_at is not null into v_kind, v_names, v_due from delayed_queue q
    where q.entry = in_entry and q.semaphores is not null and q.source_kind is null
        and q.reserved_at is null for update;
    if v_kind is not null then
        if not v_due then
            update delayed_queue q set q.ready_rank = null, q.ready_at = null where q.entry = in_entry;
            insert into queue_semaphore_wait (entry, name, p_kind)
                values (in_entry, json_unquote(json_extract(v_names, '$[0]')), v_kind)
            on duplicate key update entry = in_entry;
        end if;
        select count(*) into v_marked from queue_kind k where k.p_kind = v_kind and k.semaphores;
        if v_marked = 0 then
            insert into queue_kind (p_kind, semaphores) values (v_kind, true) on duplicate key update semaphores = true;
        end if;
        call _queue_permits_note(in_entry, v_names);
    end if;
end $$
delimiter ;
