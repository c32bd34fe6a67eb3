-- calls: _queue_check_fit, _queue_check_name, _queue_check_roles, _queue_entry, _queue_fail, _queue_key,
--     _queue_push_options, _queue_put, queue_now
-- changes: delayed_queue
create procedure _queue_push(in in_kind text collate exact, in in_key text collate exact, in in_payload longtext,
    in in_payload_bytes longblob, in in_options longtext, out out_key text collate exact, out out_scheduled_at bigint,
    out out_outcome varchar(10))
    comment 'Puts one message, whose payload is checked already but for payload_shape: queue_push and queue_push_bytes.
in_payload, in_payload_bytes: one of the two; neither: a payload of JSON null. The other parameters, the result, the
errors and the locks are those of queue_push.
out_key, out_scheduled_at, out_outcome: the result.'
push: begin
    declare v_now, v_since, v_at, v_entry bigint;
    declare v_kind varchar(100) collate exact default left(in_kind, 100); -- a text takes longer to compare
    declare v_key varchar(200) collate exact;
    declare v_shape, v_headers, v_route, v_semaphores longtext;
    declare v_priority smallint;
    declare v_attempts, v_max_attempts int;
    declare v_on_duplicate varchar(20);
    declare v_draining, v_restricted, v_follows boolean default false;
    declare v_order varchar(200) collate exact;
    declare continue handler for not found begin end;
    call queue_now(v_now);
    set in_payload = coalesce(in_payload, if(in_payload_bytes is null, 'null', null));
    call _queue_check_name(in_kind, 95, 'kind');
    set out_key = in_key;
    if in_key is null then
        call _queue_key(v_now, out_key);
    end if;
    call _queue_check_name(out_key, 200, 'key');
    set v_key = out_key;
    select k.payload_shape, v_now - nullif(k.dedup_seconds, 0) * 1000000, k.draining, k.roles is not null,
        k.filter_index or k.log_seconds > 0
    into v_shape, v_since, v_draining, v_restricted, v_follows
    from queue_kind k where k.p_kind = v_kind;
    if v_restricted then
        call _queue_check_roles(json_array(in_kind));
    end if;
    if v_draining then
        call _queue_fail('PQ004', 'kind', in_kind, 'takes in nothing while it is drained');
    elseif v_shape is not null then
        call _queue_check_fit(v_shape, in_payload, 'payload');
    end if;
    if in_options is null and v_since is null and not v_follows and @pyqueue_own then
        -- most pushes: a new key in a kind that asks for nothing more; as _queue_put does, see there
        select q.scheduled_at into out_scheduled_at from delayed_queue q
        where q.p_kind = v_kind and q.p_key = v_key;
        if out_scheduled_at is not null then
            set out_outcome = 'ignored';
            leave push;
        end if;
        call _queue_entry(v_entry);
        insert into delayed_queue (entry, p_kind, p_key, payload, payload_bytes, scheduled_at, scheduled_at_initially,
            created_at, ready_rank, ready_at)
        values (v_entry, v_kind, v_key, in_payload, in_payload_bytes, v_now, v_now, v_now, 0, v_now)
        on duplicate key update entry = delayed_queue.entry;
        select q.scheduled_at, 'created' into out_scheduled_at, out_outcome from delayed_queue q
        where q.entry = v_entry and q.p_kind = v_kind and q.p_key = v_key;
        if out_outcome is not null then
            leave push;
        end if;
        set v_entry = null;
    end if;
    call _queue_push_options(in_options, v_now, v_at, v_priority, v_headers, v_attempts, v_max_attempts,
        v_on_duplicate, v_route, v_order, v_semaphores);
    call _queue_put(v_entry, v_kind, v_key, in_payload, in_payload_bytes, v_headers, v_priority, v_now, v_at,
        v_attempts, v_max_attempts, v_on_duplicate, v_since, v_route, json_value(in_options, '$.group'), null, v_order,
        v_semaphores, out_scheduled_at, out_outcome);
end;
