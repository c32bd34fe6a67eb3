-- calls: _queue_add_error, _queue_bury, _queue_defaults, _queue_end, _queue_permits_note
-- changes: delayed_queue
drop procedure if exists _queue_release_delivery;
delimiter $$
create procedure _queue_release_delivery(in in_entry bigint, in in_error longtext character set utf8mb4,
    in in_now bigint)
    comment 'Ends a delivery whose worker is gone: the message may be taken at once, or makes room for what was pushed
onto it, or is dead where that was its last delivery.
in_entry: the message, locked already. in_error: what its errors are to say. in_now: the time of the call.
Locks: as _queue_bury where it dies.
differs: on PostgreSQL it is a part of _queue_release_worker.'
begin
    declare v_kind varchar(100) collate exact;
    declare v_by varchar(200) character set utf8mb4;
    declare v_errors, v_semaphores longtext character set utf8mb4;
    declare v_attempts, v_max_attempts, v_most int;
    declare v_none decimal(30,6);
    declare v_pending boolean;
    declare continue handler for not found begin end;
    select q.p_kind, q.attempts, q.max_attempts, q.pending, q.errors, q.reserved_by, q.semaphores
    into v_kind, v_attempts, v_max_attempts, v_pending, v_errors, v_by, v_semaphores
    from delayed_queue q where q.entry = in_entry for update;
    select coalesce(k.max_attempts, 2147483647) into v_most from queue_kind k where k.p_kind = v_kind;
    if v_most is null then
        call _queue_defaults(v_none, v_most, v_none, v_none, v_none, v_none);
    end if;
    if v_attempts >= coalesce(v_max_attempts, v_most) then
        call _queue_bury(in_entry, in_error, in_now);
    elseif v_pending is not null then
        call _queue_end(in_entry, null, null, in_now);
    else
        call _queue_add_error(v_errors, in_now, v_attempts, v_by, in_error, v_errors);
        -- to the end of the line, as _queue_nack: where sessions keep a cursor, its old place is seen by few
        update delayed_queue q
        set q.scheduled_at = in_now, q.ready_rank = -q.priority, q.ready_at = in_now, q.due_at = null,
            q.reserved_at = null, q.reserved_by = null, q.secret = null, q.errors = v_errors
        where q.entry = in_entry;
        call _queue_permits_note(in_entry, v_semaphores);
    end if;
end $$
delimiter ;
