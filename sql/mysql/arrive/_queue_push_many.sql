-- calls: _queue_check_kind, _queue_check_messages, _queue_fail, _queue_index_keys, _queue_log_batch,
--     _queue_push_each, _queue_push_options, _queue_push_plain, queue_now
drop procedure if exists _queue_push_many;
delimiter $$
create procedure _queue_push_many(in in_kind text collate exact, in in_messages longtext character set utf8mb4,
    in in_options longtext character set utf8mb4, out out_outcomes longtext character set ascii,
    out out_made longtext character set ascii)
    comment 'queue_push_many without its transaction.
in_kind, in_messages, in_options, the errors and the locks: those of queue_push_many.
out_outcomes: a letter a message, in their order: c for created, i for ignored, r for replaced, h for held. out_made: 36
characters a message, the key that was made where it came without; NULL where none was.'
begin
    declare v_now, v_at bigint;
    declare v_keeps, v_draining, v_filter, v_logs boolean default false;
    declare v_headers longtext character set utf8mb4;
    declare v_priority smallint;
    declare v_attempts, v_max_attempts int;
    declare v_on_duplicate varchar(20) character set utf8mb4;
    declare continue handler for not found begin end;
    call queue_now(v_now);
    call _queue_check_kind(in_kind, 95, 'kind');
    if in_messages is null or length(in_messages) < 99 and in_messages regexp '^[[:space:]]*null[[:space:]]*$' then
        set in_messages = '[]';
    end if;
    call _queue_check_messages(in_messages);
    call _queue_push_options(in_options, v_now, v_at, v_priority, v_headers, v_attempts, v_max_attempts,
        v_on_duplicate);
    select k.payload_shape is not null or k.dedup_seconds > 0 or k.filter_index
        or k.log_seconds > 0, k.draining, k.filter_index, k.log_seconds > 0
    into v_keeps, v_draining, v_filter, v_logs
    from queue_kind k where k.p_kind = in_kind;
    if v_draining then
        call _queue_fail('PQ004', 'kind', in_kind, 'takes in nothing while it is drained');
    end if;
    set out_outcomes = null, out_made = null;
    if @pyqueue_own and v_on_duplicate = 'ignore' and not v_keeps
        and json_contains_path(in_options, 'one', '$.route', '$.group', '$.order_key', '$.semaphores') is not true
        and json_depth(in_messages) <= 33 then
        call _queue_push_plain(in_kind, in_messages, v_now, v_at, v_priority, v_headers, v_attempts, v_max_attempts,
            out_outcomes);
    end if;
    if out_outcomes is null then
        call _queue_push_each(in_kind, in_messages, in_options, v_now, out_outcomes, out_made);
        if v_filter then
            call _queue_index_keys(in_kind, in_messages, out_outcomes, out_made);
        end if;
    end if;
    if v_logs then
        call _queue_log_batch(in_kind, in_messages, in_options, out_outcomes, out_made, v_now);
    end if;
end $$
delimiter ;
