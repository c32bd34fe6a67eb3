-- calls: _queue_add_error, _queue_bury, _queue_check_fit, _queue_defaults, _queue_end, _queue_index, _queue_line_up,
--     _queue_number, _queue_text
-- changes: delayed_queue, queue_count
create procedure _queue_nack(in in_entry bigint, in in_secret binary(16), in in_options longtext, in in_now bigint,
    out out_outcome varchar(10))
    comment 'Gives one message back.
in_entry, in_secret: its receipt, taken apart. in_options: those of queue_nack, checked. in_now: the time of the call.
Result: the outcome: retry, dead, lost.
Locks: the message; as _queue_bury where it dies.
differs: the result is a parameter, out_outcome.'
nack: begin
    declare v_kind varchar(100) collate exact;
    declare v_by varchar(200);
    declare v_error, v_errors, v_shape longtext;
    declare v_counts, v_final, v_pending, v_guarded, v_filter boolean;
    declare v_attempts, v_max_attempts, v_most int;
    declare v_delay, v_none, v_backoff, v_factor, v_longest, v_jitter decimal(30,6);
    declare v_at bigint;
    declare continue handler for not found begin end;
    select q.p_kind, q.attempts, q.max_attempts, q.pending, q.errors, q.reserved_by, q.semaphores is not null
    into v_kind, v_attempts, v_max_attempts, v_pending, v_errors, v_by, v_guarded
    from delayed_queue q where q.entry = in_entry and q.secret = in_secret for update;
    if v_kind is null then
        set out_outcome = 'lost';
        leave nack;
    end if;
    select coalesce(k.max_attempts, 2147483647), k.backoff_seconds, k.backoff_factor, k.backoff_max_seconds, k.jitter,
        k.payload_shape, k.filter_index
    into v_most, v_backoff, v_factor, v_longest, v_jitter, v_shape, v_filter from queue_kind k where k.p_kind = v_kind;
    if v_most is null then
        call _queue_defaults(v_none, v_most, v_backoff, v_factor, v_longest, v_jitter);
    end if;
    set v_counts = coalesce(json_unquote(in_options -> 'count') <> 'false', true),
        v_final = coalesce(json_unquote(in_options -> 'final') = 'true', false);
    if in_options ? 'error' then
        call _queue_text(in_options, 'error', v_error);
    end if;
    if in_options ? 'delay_seconds' then
        call _queue_number(in_options, 'delay_seconds', 0, 31536000, v_delay);
    end if;
    insert into queue_count (id, p_kind, nacked) values (uuid_short(), v_kind, 1);
    if in_options ? 'payload' then
        if v_shape is not null then
            call _queue_check_fit(v_shape, in_options -> 'payload', 'payload');
        end if;
        update delayed_queue q set q.payload = in_options -> 'payload', q.payload_bytes = null
        where q.entry = in_entry;
        if v_filter then
            call _queue_index(json_array(in_entry + 0));
        end if;
    end if;
    if v_final or v_counts and v_attempts >= coalesce(v_max_attempts, v_most) then
        call _queue_bury(in_entry, coalesce(v_error, 'nacked'), in_now);
        set out_outcome = 'dead';
        leave nack;
    end if;
    set out_outcome = 'retry';
    if v_pending is not null then
        call _queue_end(in_entry, null, null, in_now);
        leave nack;
    end if;
    if v_delay is null and v_counts and v_error is not null then
        set v_delay = least(v_backoff * pow(v_factor, least(v_attempts - 1, 100)), v_longest) * (1 - v_jitter * rand());
    end if;
    set v_at = in_now + coalesce(v_delay, 0) * 1000000;
    if v_error is not null then
        call _queue_add_error(v_errors, in_now, v_attempts, v_by, v_error, v_errors);
    end if;
    update delayed_queue q
    set q.scheduled_at = v_at, q.ready_rank = if(v_at <= in_now, -q.priority, null),
        q.ready_at = if(v_at <= in_now, v_at, null), q.due_at = if(v_at > in_now, v_at, null), q.reserved_at = null,
        q.reserved_by = null, q.secret = null, q.attempts = if(v_counts, v_attempts, v_attempts - 1),
        q.errors = v_errors
    where q.entry = in_entry;
    if v_guarded then
        call _queue_line_up(json_array(in_entry + 0));
    end if;
end;
