-- calls: _queue_check_fit, _queue_check_headers, _queue_end, _queue_fail, _queue_integer, _queue_members_end,
--     _queue_number, _queue_put, _queue_text
create procedure _queue_move(in in_entry bigint, in in_secret binary(16), in in_to_kind text collate exact,
    in in_options longtext, in in_now bigint, out out_outcome varchar(10))
    comment 'Moves one message.
in_entry, in_secret: its receipt, taken apart. in_to_kind, in_options: those of queue_move, checked, and for an ack
next: true, since this is the next step of its route, and result. in_now: the time of the call.
Result: the outcome: moved, duplicate, lost.
Locks: the message, and its key in the target.
differs: the result is a parameter, out_outcome.'
move: begin
    declare v_kind varchar(100) collate exact;
    declare v_key, v_other_key text collate exact;
    declare v_payload, v_headers, v_shape, v_route, v_semaphores longtext;
    declare v_bytes longblob;
    declare v_priority smallint;
    declare v_delay decimal(30,6);
    declare v_at, v_member, v_entry, v_other_priority bigint;
    declare v_on_duplicate varchar(20);
    declare v_draining boolean;
    declare v_order varchar(200) collate exact;
    declare continue handler for not found begin end;
    select q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.route, q.member, q.order_key,
        q.semaphores
    into v_kind, v_key, v_payload, v_bytes, v_headers, v_priority, v_route, v_member, v_order, v_semaphores
    from delayed_queue q where q.entry = in_entry and q.secret = in_secret for update;
    if v_kind is null then
        set out_outcome = 'lost';
        leave move;
    end if;
    call _queue_end(in_entry, 'moved', in_to_kind, in_now);
    if in_options ? 'payload' then
        set v_payload = in_options -> 'payload', v_bytes = null;
    end if;
    select k.payload_shape, k.draining and in_to_kind <> v_kind into v_shape, v_draining
    from queue_kind k where k.p_kind = in_to_kind;
    if v_draining then
        call _queue_fail('PQ004', concat('to_kind of "', left(v_key, 40), '"'), in_to_kind,
            'takes in nothing while it is drained');
    elseif v_shape is not null then
        call _queue_check_fit(v_shape, v_payload, concat('payload of "', left(v_key, 40), '"'));
    end if;
    if in_options is not null then
        if in_options ? 'headers' then
            call _queue_check_headers(in_options -> 'headers', 'headers', v_headers);
        end if;
        if in_options ? 'next' then
            set v_route = if(json_length(v_route) > 1, json_remove(v_route, '$[0]'), null);
        end if;
        call _queue_text(in_options, 'key', v_other_key);
        call _queue_number(in_options, 'delay_seconds', 0, 253402300799, v_delay);
        call _queue_integer(in_options, 'priority', -32768, 32767, v_other_priority);
        call _queue_text(in_options, 'on_duplicate', v_on_duplicate);
    end if;
    call _queue_put(v_entry, in_to_kind, coalesce(v_other_key, v_key), v_payload, v_bytes, v_headers,
        coalesce(v_other_priority, v_priority), in_now, in_now + coalesce(v_delay, 0) * 1000000, 0, null,
        coalesce(v_on_duplicate, 'ignore'), null, v_route, null, v_member, v_order, v_semaphores, v_at, out_outcome);
    if v_member is not null and out_outcome <> 'created' then
        call _queue_members_end(json_array(v_member + 0), 'duplicate', in_options -> 'result', in_now);
    end if;
    set out_outcome = if(out_outcome = 'ignored', 'duplicate', 'moved');
end;
