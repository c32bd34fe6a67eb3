-- changes: delayed_queue, queue_order, queue_order_waiting
drop procedure if exists _queue_join_line;
delimiter $$
create procedure _queue_join_line(in in_kind text collate exact, in in_entry bigint,
    in in_order varchar(200) collate exact)
    comment 'A message that was just put in takes its place in the line of its order key: at the end, where all but the
first of a line wait.
in_kind, in_entry: the message, which has a place or a date. in_order: its order key.
Locks: the line, until the transaction ends.
differs: PostgreSQL has a set of messages here, and locks the first of each line by _queue_line.'
begin
    declare v_first bigint;
    insert into queue_order (p_kind, order_key, first) values (in_kind, in_order, in_entry)
        on duplicate key update p_kind = in_kind;
    -- the newest, which an old snapshot doesn't have
    select o.first into v_first from queue_order o where o.p_kind = in_kind and o.order_key = in_order for update;
    if v_first <> in_entry then
        insert into queue_order_waiting (p_kind, order_key, entry) values (in_kind, in_order, in_entry);
        update delayed_queue q set q.order_waits = true, q.ready_rank = null, q.ready_at = null, q.due_at = null
        where q.entry = in_entry;
    end if;
end $$
delimiter ;
