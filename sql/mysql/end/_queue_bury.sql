-- calls: _queue_add_error, _queue_end, _queue_entry, _queue_index, _queue_log_entries, _queue_members_end
-- changes: delayed_queue, queue_group_member, queue_kind
create procedure _queue_bury(in in_entry bigint, in in_error longtext, in in_now bigint)
    comment 'Moves a message to the dead-letter kind of its kind, with its errors. A key that is taken there gets a
suffix; kind, key, priority and order key are remembered for queue_redrive; those of a dead letter that dies again are
still those of its origin.
in_entry: the message, locked already. in_error: why it died. in_now: the time of the call.
Where its group doesn''t wait for it, its member is done: at the end of the call its caller has _queue_members_settle
see to that.
Locks: as _queue_end; waits for a transaction that is putting the same dead letter.
differs: one message, because a procedure has no arrays; whoever ends many goes by their keys.'
begin
    declare v_kind, v_to_kind, v_source_kind varchar(100) collate exact;
    declare v_key, v_source_key, v_order varchar(200) collate exact;
    declare v_payload, v_headers, v_errors, v_route, v_semaphores, v_roles longtext;
    declare v_bytes longblob;
    declare v_priority, v_source_priority smallint;
    declare v_initially, v_member, v_letter bigint;
    declare v_attempts, v_guarded, v_ends int;
    declare v_by varchar(200);
    declare v_suffix varchar(200) default '';
    declare v_created int default 0;
    declare continue handler for not found begin end;
    select q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at_initially, q.errors,
        q.attempts, q.reserved_by, q.route, q.member, coalesce(q.order_key, q.source_order_key), q.semaphores,
        coalesce(q.source_kind, q.p_kind), coalesce(q.source_key, q.p_key), coalesce(q.source_priority, q.priority)
    into v_kind, v_key, v_payload, v_bytes, v_headers, v_priority, v_initially, v_errors, v_attempts, v_by, v_route,
        v_member, v_order, v_semaphores, v_source_kind, v_source_key, v_source_priority
    from delayed_queue q where q.entry = in_entry for update;
    select k.dead_letter_kind, k.roles into v_to_kind, v_roles from queue_kind k where k.p_kind = v_kind;
    set v_to_kind = coalesce(v_to_kind, concat(left(v_kind, 95), '.dead'));
    if v_roles is not null then
        -- not EXISTS in an IF, which would lock the row; there are some where one dies again
        select count(k.roles) into v_guarded from queue_kind k where k.p_kind = v_to_kind;
        if v_guarded = 0 then
            insert into queue_kind (p_kind, roles) values (v_to_kind, v_roles)
            on duplicate key update roles = coalesce(queue_kind.roles, v_roles);
        end if;
    end if;
    call _queue_add_error(v_errors, in_now, v_attempts, v_by, in_error, v_errors);
    update delayed_queue q set q.errors = v_errors where q.entry = in_entry; -- history has them too
    call _queue_end(in_entry, 'dead', v_to_kind, in_now);
    while v_created = 0 do
        call _queue_entry(v_letter);
        insert into delayed_queue (entry, p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at,
            scheduled_at_initially, created_at, ready_rank, ready_at, errors, source_kind, source_key, source_priority,
            route, member, source_order_key, semaphores)
        values (v_letter, v_to_kind, concat(left(v_key, 200 - char_length(v_suffix)), v_suffix), v_payload, v_bytes,
            v_headers, v_priority, in_now, v_initially, in_now, -v_priority, in_now, v_errors, v_source_kind,
            v_source_key, v_source_priority, v_route, v_member, v_order, v_semaphores)
        on duplicate key update entry = delayed_queue.entry;
        -- looked at, as in _queue_put
        select count(*) into v_created from delayed_queue q
            where q.entry = v_letter and q.source_kind = v_source_kind and q.source_key = v_source_key;
        set v_suffix = concat('~', in_entry, v_suffix); -- an entry number is used once
    end while;
    call _queue_index(json_array(v_letter + 0));
    call _queue_log_entries(json_array(json_array(v_letter + 0, 'pushed')), null, in_now);
    if v_member is not null then
        update queue_group_member m set m.entry = v_letter, m.error = in_error
            where m.member = v_member and m.done_at is null;
        select count(*) into v_ends from queue_group_member m join queue_group g on g.group_name = m.group_name
        where m.member = v_member and m.done_at is null and g.on_dead <> 'wait';
        if v_ends > 0 then
            call _queue_members_end(json_array(v_member + 0), 'dead', null, in_now);
        end if;
    end if;
end;
