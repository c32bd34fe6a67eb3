-- changes: delayed_queue, queue_order, queue_order_waiting
drop procedure if exists _queue_join_line;
delimiter $$
create procedure _queue_join_line(in in_list longtext character set utf8mb4)
    comment 'Messages that were just put in take their places in the lines of their order keys: at the end, where all
but the first of a line wait; line by line, so that batches that overlap don''t deadlock.
in_list: a JSON array of arrays, see _queue_log_entries: the entry of a message, which has its order key, or none, and a
place or a date; and its event, pushed, or it stands in its line already.
Locks: the lines, in their order, until the transaction ends.
differs: one list in place of two arrays; PostgreSQL locks the first of each line by _queue_line.'
begin
    declare v_entry, v_first bigint;
    declare v_kind varchar(100) collate exact;
    declare v_order varchar(200) collate exact;
    declare v_done boolean default false;
    declare c cursor for
        select s.p_kind, s.order_key, s.entry
        from (
            select q.p_kind, q.order_key, q.entry
            from json_table(in_list, '$[*]' columns (entry bigint path '$[0]',
                event varchar(10) character set utf8mb4 path '$[1]')) j
                straight_join delayed_queue q force index (primary) on q.entry = j.entry
            where j.event = 'pushed' and q.order_key is not null limit 1000000000) s
        order by s.p_kind, s.order_key, s.entry;
    open c;
    messages: loop
        begin
            declare continue handler for not found set v_done = true;
            fetch c into v_kind, v_order, v_entry;
        end;
        if v_done then
            leave messages;
        end if;
        insert into queue_order (p_kind, order_key, first) values (v_kind, v_order, v_entry)
            on duplicate key update p_kind = v_kind;
        -- the newest, which an old snapshot doesn't have
        select o.first into v_first from queue_order o where o.p_kind = v_kind and o.order_key = v_order for update;
        if v_first <> v_entry then
            insert into queue_order_waiting (p_kind, order_key, entry) values (v_kind, v_order, v_entry);
            update delayed_queue q set q.order_waits = true, q.ready_rank = null, q.ready_at = null, q.due_at = null
            where q.entry = v_entry;
        end if;
    end loop;
    close c;
end $$
delimiter ;
