-- calls: _queue_check_inbox_row, _queue_push
create procedure _queue_stage_put_each(in in_parts longtext, out out_pushed bigint)
    comment 'Pushes what is staged message by message, in the order of the keys: where one of them has no key, is wrong,
or is of a kind with a shape or a memory of keys; and where its JSON takes more than a glance.
in_parts: those of queue_stage_publish, locked. out_pushed: how many became messages.
Errors: those of queue_push, naming the key; then the call has to be undone.
Locks: as queue_push.
differs: on PostgreSQL the trigger of queue_inbox does it.'
begin
    declare v_id, v_at bigint;
    declare v_kind, v_key, v_new_key text collate exact;
    declare v_payload, v_headers, v_options longtext;
    declare v_bytes longblob;
    declare v_priority, v_attempts, v_max_attempts int;
    declare v_delay decimal(30,6);
    declare v_error varchar(128);
    declare v_outcome varchar(10);
    declare c cursor for
        select s.id from staged(in_parts) s
        order by s.p_key, s.p_kind, s.id;
    declare exit handler for sqlstate 'PQ001', sqlstate 'PQ002', sqlstate 'PQ003' begin
        get diagnostics condition 1 v_error = message_text;
        set v_error = left(concat('message (key ', coalesce(concat('"', left(v_key, 40), '"'), 'NULL'), '): ', v_error),
            128);
        resignal set message_text = v_error;
    end;
    set out_pushed = 0;
    for each c into v_id do
        select s.p_kind, s.p_key, s.payload, s.payload_bytes, s.headers, s.priority, s.delay_seconds, s.scheduled_at,
            s.attempts, s.max_attempts
        into v_kind, v_key, v_payload, v_bytes, v_headers, v_priority, v_delay, v_at, v_attempts, v_max_attempts
        from queue_stage s where s.id = v_id;
        call _queue_check_inbox_row(v_payload, v_bytes, v_headers, v_priority, v_delay, v_at, v_attempts,
            v_max_attempts, v_options);
        call _queue_push(v_kind, v_key, v_payload, v_bytes, v_options, v_new_key, v_at, v_outcome);
        set out_pushed = out_pushed + (v_outcome = 'created');
    end each;
end;
