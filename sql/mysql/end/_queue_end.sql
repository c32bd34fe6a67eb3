-- calls: _queue_advance, _queue_log, _queue_permits_note, _queue_put
-- changes: delayed_queue, queue_count, queue_dedup, queue_history
create procedure _queue_end(in in_entry bigint, in in_outcome varchar(10), in in_to_kind text collate exact,
    in in_now bigint)
    comment 'The verb end: counts and removes what has ended, and does what hangs on it, in one order of locks. What its
kind wants kept is kept (history, key, log); the next of its line is first; what was pushed onto it while it was held is
put in, as a new entry with the same route before it, and the same semaphores; which is the same member of its group
where it takes the place of this one, and stands at the end of the line of its order key.
in_entry: the message, locked already. in_outcome: acked, popped, moved, dead, removed, of which what is pending goes
too; dropped: the same with its kind, so that nothing is kept; NULL: it makes room for what is pending, and nothing is
kept. in_to_kind: where it went, NULL: nowhere.
in_now: the time of the call.
Locks: the next in the line of its order key; then the key of what is pending.
differs: one message, because a procedure has no arrays; that it names semaphores is noted for the end of the call. What
is plain ends in one statement in _queue_ack, and many together in _queue_end_many.'
begin
    declare v_kind varchar(100) collate exact;
    declare v_key, v_order varchar(200) collate exact;
    declare v_payload, v_headers, v_route, v_semaphores longtext;
    declare v_bytes longblob;
    declare v_priority smallint;
    declare v_max_attempts, v_deliveries int;
    declare v_at, v_member, v_entry bigint;
    declare v_pending, v_history, v_dedup, v_logs, v_pushed boolean;
    declare v_outcome varchar(10);
    declare continue handler for not found begin end;
    select q.p_kind, q.p_key, q.pending, q.source_kind is null, q.deliveries, q.order_key, q.semaphores
    into v_kind, v_key, v_pending, v_pushed, v_deliveries, v_order, v_semaphores
    from delayed_queue q where q.entry = in_entry for update;
    select k.history_seconds > 0, k.dedup_seconds > 0, k.log_seconds > 0 into v_history, v_dedup, v_logs
        from queue_kind k where k.p_kind = v_kind;
    if in_outcome in ('removed', 'dropped') then
        set v_pending = null;
    end if;
    if v_history and in_outcome <> 'dropped' then
        insert into queue_history (p_kind, p_key, entry, outcome, to_kind, payload, payload_bytes, headers, priority,
            scheduled_at_initially, created_at, reserved_at, finished_at, attempts, reserved_by, errors)
        select q.p_kind, q.p_key, q.entry, in_outcome, in_to_kind, q.payload, q.payload_bytes, q.headers, q.priority,
            q.scheduled_at_initially, q.created_at, if(in_outcome = 'popped', in_now, q.reserved_at), in_now,
            q.attempts + (in_outcome = 'popped'), if(in_outcome = 'popped', null, q.reserved_by), q.errors
        from delayed_queue q where q.entry = in_entry;
    end if;
    if v_dedup and in_outcome in ('acked', 'popped', 'moved') then
        insert into queue_dedup (p_kind, p_key, ended_at) values (v_kind, v_key, in_now)
        on duplicate key update ended_at = in_now;
    end if;
    if v_logs and in_outcome <> 'dropped' then
        call _queue_log(in_entry, in_outcome, in_to_kind, null, null, in_now);
    end if;
    if v_pending then
        select if(q.pending_payload is null and q.pending_bytes is null, q.payload, q.pending_payload),
            if(q.pending_payload is null and q.pending_bytes is null, q.payload_bytes, q.pending_bytes),
            if(q.pending_payload is null and q.pending_bytes is null, q.headers, q.pending_headers),
            q.priority, q.max_attempts, greatest(coalesce(q.pending_at, 0), in_now), q.route,
            if(in_outcome is null, q.member, null)
        into v_payload, v_bytes, v_headers, v_priority, v_max_attempts, v_at, v_route, v_member
        from delayed_queue q where q.entry = in_entry for update;
    end if;
    insert into queue_count (id, p_kind, pushed, reserved, popped, acked, moved, dead)
    values (uuid_short(), v_kind, v_pushed, v_deliveries, if(in_outcome = 'popped', 1, null),
        if(in_outcome = 'acked', 1, null), if(in_outcome = 'moved', 1, null), if(in_outcome = 'dead', 1, null));
    delete q from delayed_queue q where q.entry = in_entry;
    if v_order is not null then
        call _queue_advance(json_array(json_array(v_kind, v_order, in_entry + 0)), in_now);
    elseif v_semaphores is not null then
        call _queue_permits_note(in_entry, v_semaphores);
    end if;
    if v_pending then
        call _queue_put(v_entry, v_kind, v_key, v_payload, v_bytes, v_headers, v_priority, in_now, v_at, 0,
            v_max_attempts, 'ignore', null, v_route, null, v_member, v_order, v_semaphores, v_at, v_outcome);
    end if;
end;
