-- changes: delayed_queue, queue_order, queue_order_waiting
create procedure _queue_advance(in in_list longtext, in in_now bigint)
    comment 'Messages of lines have ended, in this transaction. Where one was the first of its line, the next, that of
the lowest entry, gets its place in the ready line, or its date in the timetable where its delivery time has not come.
What ends a message that stands in a line calls it.
in_list: a JSON array of [kind, order key, entry]: the messages, which are gone; where one was neither the first nor
waiting nothing happens. in_now: the time of the call.
Locks: the lines, in their order, and the next of each, until the transaction ends.
differs: PostgreSQL takes lines, of which the first are gone.'
begin
    declare v_next longtext;
    delete w from unnest(in_list) j (p_kind varchar(100) collate exact, order_key varchar(200) collate exact,
            entry bigint)
        straight_join queue_order_waiting w force index (primary)
            on w.p_kind = j.p_kind and w.order_key = j.order_key and w.entry = j.entry;
    if row_count() < json_length(in_list) then
        -- the newest of both, which an old snapshot doesn't have
        select json_arrayagg(l.entry) into v_next
        from (
            select (
                    select w.entry from queue_order_waiting w force index (primary)
                    where w.p_kind = o.p_kind and w.order_key = o.order_key
                    order by w.p_kind, w.order_key, w.entry limit 1 for update) as entry
            from unnest(in_list) j (p_kind varchar(100) collate exact, order_key varchar(200) collate exact,
                    entry bigint)
                straight_join queue_order o force index (primary) on o.p_kind = j.p_kind
                    and o.order_key = j.order_key and o.first = j.entry
            order by j.p_kind, j.order_key limit 1000000000 for update of o) l
        where l.entry is not null;
        if v_next is not null then
            update messages(v_next) q
                straight_join queue_order o force index (primary) on o.p_kind = q.p_kind and o.order_key = q.order_key
            set o.first = q.entry, q.order_waits = null,
                q.ready_rank = if(q.scheduled_at <= in_now, -q.priority, null),
                q.ready_at = if(q.scheduled_at <= in_now, in_now, null),
                q.due_at = if(q.scheduled_at > in_now, q.scheduled_at, null);
            delete w from messages(v_next) q
                straight_join queue_order_waiting w force index (primary)
                    on w.p_kind = q.p_kind and w.order_key = q.order_key and w.entry = q.entry;
        end if;
        delete o from unnest(in_list) j (p_kind varchar(100) collate exact, order_key varchar(200) collate exact,
                entry bigint)
            straight_join queue_order o force index (primary) on o.p_kind = j.p_kind and o.order_key = j.order_key
                and o.first = j.entry;
    end if;
end;
