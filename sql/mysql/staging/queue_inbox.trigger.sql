-- calls: _queue_check_inbox_row, _queue_entry, _queue_push, queue_now
-- changes: delayed_queue
-- Pushes each row as it comes in; queue_reserve, queue_pop and queue_prune take the rows themselves out.
-- differs: PostgreSQL has a statement trigger, which can name the number of a wrong row; here its key does.
create trigger queue_inbox before insert on queue_inbox for each row
begin
    declare v_error varchar(128);
    declare v_outcome varchar(10);
    declare v_key text collate exact;
    declare v_options longtext;
    declare v_now, v_due, v_entry, v_special bigint;
    declare exit handler for sqlstate 'PQ001', sqlstate 'PQ002', sqlstate 'PQ003' begin
        get diagnostics condition 1 v_error = message_text;
        set v_error = left(concat('row (key ', coalesce(concat('"', left(new.p_key, 40), '"'), 'NULL'), '): ', v_error),
            128);
        resignal set message_text = v_error;
    end;
    select count(*) into v_special from queue_kind k where k.p_kind = new.p_kind and (k.payload_shape is not null
        or k.dedup_seconds > 0 or k.draining or k.filter_index or k.log_seconds > 0 or k.roles is not null);
    -- what is as messages mostly are needs no more than to be put in
    if _queue_is_plain_row(new) and v_special = 0 then
        call queue_now(v_now);
        call _queue_entry(v_entry);
        set v_due = coalesce(new.scheduled_at, v_now + cast(coalesce(new.delay_seconds, 0) * 1000000 as signed));
        insert into delayed_queue (entry, p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at,
            scheduled_at_initially, created_at, attempts, max_attempts, ready_rank, ready_at, due_at)
        values (v_entry, new.p_kind, new.p_key, new.payload, new.payload_bytes, new.headers,
            coalesce(new.priority, 0), v_due, v_due, v_now, coalesce(new.attempts, 0), new.max_attempts,
            if(v_due <= v_now, -coalesce(new.priority, 0), null), if(v_due <= v_now, v_due, null),
            if(v_due > v_now, v_due, null))
        on duplicate key update entry = delayed_queue.entry;
    else
        call _queue_check_inbox_row(new.payload, new.payload_bytes, new.headers, new.priority, new.delay_seconds,
            new.scheduled_at, new.attempts, new.max_attempts, v_options);
        call _queue_push(new.p_kind, new.p_key, new.payload, new.payload_bytes, v_options, v_key, v_due, v_outcome);
    end if;
    -- only its number is needed until somebody takes it out
    set new.taken = true, new.payload = null, new.payload_bytes = null, new.headers = null;
end;
