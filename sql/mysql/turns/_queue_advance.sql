-- changes: delayed_queue, queue_order, queue_order_waiting
drop procedure if exists _queue_advance;
delimiter $$
create procedure _queue_advance(in in_kind text collate exact, in in_order varchar(200) collate exact,
    in in_entry bigint, in in_now bigint)
    comment 'A message of a line has ended, in this transaction. Where it was the first, the next, that of the lowest
entry, gets its place in the ready line, or its date in the timetable where its delivery time has not come. What ends a
message that stands in a line calls it.
in_kind, in_order: the line. in_entry: the message, which is gone; where it was neither the first nor waiting nothing
happens. in_now: the time of the call.
Locks: the line and the next one, until the transaction ends.
differs: PostgreSQL has several lines here, of which the first are gone.'
begin
    declare v_first, v_next bigint;
    declare continue handler for not found begin end;
    delete w from queue_order_waiting w where w.p_kind = in_kind and w.order_key = in_order and w.entry = in_entry;
    if row_count() = 0 then
        select o.first into v_first from queue_order o where o.p_kind = in_kind and o.order_key = in_order for update;
    end if;
    if v_first = in_entry then
        select w.entry into v_next from queue_order_waiting w where w.p_kind = in_kind and w.order_key = in_order
        order by w.p_kind, w.order_key, w.entry limit 1 for update;
        if v_next is null then
            delete o from queue_order o where o.p_kind = in_kind and o.order_key = in_order;
        else
            delete w from queue_order_waiting w where w.p_kind = in_kind and w.order_key = in_order
                and w.entry = v_next;
            update queue_order o set o.first = v_next where o.p_kind = in_kind and o.order_key = in_order;
            update delayed_queue q
            set q.order_waits = null, q.ready_rank = if(q.scheduled_at <= in_now, -q.priority, null),
                q.ready_at = if(q.scheduled_at <= in_now, in_now, null),
                q.due_at = if(q.scheduled_at > in_now, q.scheduled_at, null)
            where q.entry = v_next;
        end if;
    end if;
end $$
delimiter ;
