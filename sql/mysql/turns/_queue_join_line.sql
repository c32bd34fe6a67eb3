-- changes: delayed_queue, queue_order, queue_order_waiting
create procedure _queue_join_line(in in_entries longtext)
    comment 'Messages that were just put in take their places in the lines of their order keys: at the end, where all
but the first of a line wait; line by line, so that batches that overlap don''t deadlock.
in_entries: a JSON array of the messages, which have a place or a date, and their order key, or none.
Locks: the lines, in their order, until the transaction ends.
differs: PostgreSQL locks the first of each line by _queue_line.'
begin
    declare v_wait longtext;
    insert into queue_order (p_kind, order_key, first)
    select s.p_kind, s.order_key, s.first
    from (
        select q.p_kind, q.order_key, min(q.entry) as first from messages(in_entries) q where q.order_key is not null
        group by q.p_kind, q.order_key limit 1000000000) s
    order by s.p_kind, s.order_key
    on duplicate key update first = queue_order.first;
    -- the newest, which an old snapshot doesn't have
    select json_arrayagg(l.entry + 0) into v_wait
    from (
        select q.entry from messages(in_entries) q
            straight_join queue_order o force index (primary) on o.p_kind = q.p_kind and o.order_key = q.order_key
        where o.first <> q.entry for update of o) l;
    if v_wait is not null then
        insert into queue_order_waiting (p_kind, order_key, entry)
        select q.p_kind, q.order_key, q.entry from messages(v_wait) q;
        update messages(v_wait) q set q.order_waits = true, q.ready_rank = null, q.ready_at = null, q.due_at = null;
    end if;
end;
