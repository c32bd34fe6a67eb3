-- calls: _queue_advance, _queue_end, _queue_permits_note
-- changes: delayed_queue, queue_count, queue_dedup, queue_history
create procedure _queue_end_many(in in_entries longtext, in in_keeps boolean, in in_outcome varchar(10),
    in in_now bigint)
    comment 'The verb end for many messages: together, or each by _queue_end where a kind of theirs has a log or
something is pending.
in_entries: a JSON array of their entries, locked already. in_keeps: whether a kind of theirs keeps history, keys or a
log, or something is pending. in_outcome: acked or popped. in_now: the time of the call.
Locks: the lines of their order keys, in their order, and the next in each.
differs: on PostgreSQL _queue_end takes many.'
begin
    declare v_entry bigint;
    declare v_lines, v_guarded, v_history, v_dedup longtext;
    declare v_each boolean default false;
    declare c cursor for
        select j.entry from unnest(in_entries) j (entry bigint) order by j.entry;
    if in_keeps then
        select json_arrayagg(if(d.keeps & 1, d.entry, null)), json_arrayagg(if(d.keeps & 2, d.entry, null)),
            max(d.keeps & 4 or d.pending)
        into v_history, v_dedup, v_each
        from (
            select q.entry, q.pending is not null as pending, (select if(k.history_seconds > 0, 1, 0)
                + if(k.dedup_seconds > 0, 2, 0) + if(k.log_seconds > 0, 4, 0)
                from queue_kind k where k.p_kind = q.p_kind) as keeps
            from messages(in_entries) q for update of q) d;
    end if;
    if v_each then
        select json_arrayagg(json_array(l.p_kind, l.order_key)) into v_lines
        from (select q.p_kind, q.order_key from messages(in_entries) q where q.order_key is not null for update of q) l;
        if v_lines is not null then -- in their order, as everywhere: each by itself would be in that of the entries
            select count(*) into v_entry
            from (
                select o.first
                from unnest(v_lines) j (p_kind varchar(100) collate exact, order_key varchar(200) collate exact)
                    straight_join queue_order o force index (primary)
                        on o.p_kind = j.p_kind and o.order_key = j.order_key
                order by j.p_kind, j.order_key limit 1000000000 for update of o) l;
        end if;
        for each c into v_entry do
            call _queue_end(v_entry, in_outcome, null, in_now);
        end each;
    else
        if in_keeps then
            insert into queue_history (p_kind, p_key, entry, outcome, payload, payload_bytes, headers, priority,
                scheduled_at_initially, created_at, reserved_at, finished_at, attempts, reserved_by, errors)
            select q.p_kind, q.p_key, q.entry, in_outcome, q.payload, q.payload_bytes, q.headers, q.priority,
                q.scheduled_at_initially, q.created_at, if(in_outcome = 'popped', in_now, q.reserved_at), in_now,
                q.attempts + (in_outcome = 'popped'), if(in_outcome = 'popped', null, q.reserved_by), q.errors
            from messages(v_history) q;
            insert into queue_dedup (p_kind, p_key, ended_at)
            select q.p_kind, q.p_key, in_now
            from messages(v_dedup) q order by q.p_key, q.p_kind on duplicate key update ended_at = in_now;
        end if;
        insert into queue_count (id, p_kind, pushed, reserved, acked, popped)
        select uuid_short(), q.p_kind, sum(q.source_kind is null), sum(q.deliveries),
            if(in_outcome = 'acked', count(*), null), if(in_outcome = 'popped', count(*), null)
        from messages(in_entries) q
        group by q.p_kind;
        delete q from messages(in_entries) q where q.order_key is null and q.semaphores is null;
        if row_count() < json_length(in_entries) then -- the others stand in lines, or have permits
            -- read with a lock, because an old snapshot may not have them
            select json_arrayagg(json_array(l.p_kind, l.order_key, l.entry)) into v_lines
            from (select q.p_kind, q.order_key, q.entry
                from messages(in_entries) q where q.order_key is not null for update of q) l;
            select json_arrayagg(l.entry) into v_guarded
            from (select q.entry from messages(in_entries) q where q.semaphores is not null for update of q) l;
            delete q from messages(in_entries) q;
        end if;
        if v_guarded is not null then
            call _queue_permits_note(v_guarded, '[]');
        end if;
        if v_lines is not null then
            call _queue_advance(v_lines, in_now);
        end if;
    end if;
end;
