-- calls: _queue_check_name, _queue_check_roles, _queue_end, queue_now
create procedure queue_remove(in in_kind text collate exact, in in_key text collate exact)
    comment 'Removes a message that nobody holds.
in_kind: the kind. in_key: the key.
Result: outcome: removed, held (it stays), absent.
Errors: PQ007 for a kind that is for others. PQ001 for kind and key.
Locks: the message, the next in the line of its order key, and its semaphores.'
begin
    declare v_held boolean;
    declare v_now, v_entry bigint;
    declare v_outcome varchar(10);
    declare continue handler for not found begin end;
    begin atomic
        call queue_now(v_now);
        call _queue_check_name(in_kind, 100, 'kind');
        call _queue_check_roles(json_array(in_kind));
        call _queue_check_name(in_key, 200, 'key');
        set v_entry = null, v_held = false, v_outcome = 'absent';
        select q.entry, q.reserved_at is not null and q.scheduled_at > v_now into v_entry, v_held
        from delayed_queue q where q.p_kind = in_kind and q.p_key = in_key for update;
        if v_held then
            set v_outcome = 'held';
        elseif v_entry is not null then
            call _queue_end(v_entry, 'removed', null, v_now);
            set v_outcome = 'removed';
        end if;
    end atomic;
    select v_outcome as outcome;
end;
