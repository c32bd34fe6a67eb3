-- calls: _queue_check_json, _queue_check_payload, _queue_fail, _queue_push
create procedure _queue_push_inbox_row(in in_kind text collate exact, in in_key text collate exact,
    in in_payload longtext character set utf8mb4, in in_payload_bytes longblob,
    in in_headers longtext character set utf8mb4, in in_priority int, in in_delay_seconds decimal(30,6),
    in in_scheduled_at bigint, in in_attempts int, in in_max_attempts int,
    out out_outcome varchar(10) character set utf8mb4)
    comment 'Pushes one row of the inbox.
The parameters are the columns of queue_inbox. out_outcome: that of a push.
Errors: those of queue_push.
differs: PostgreSQL''s _queue_check_inbox_row only checks, and the rows of a statement are pushed together.'
begin
    declare v_key text collate exact;
    declare v_at bigint;
    declare v_options longtext character set utf8mb4;
    if in_payload_bytes is null then
        call _queue_check_payload(in_payload, 'payload');
    elseif in_payload is not null then
        call _queue_fail('PQ003', 'payload', in_payload, 'must not stand beside payload_bytes');
    end if;
    if in_headers is not null then
        call _queue_check_json(in_headers, 'PQ003', 'headers');
    end if;
    if coalesce(in_headers, in_priority, in_delay_seconds, in_scheduled_at, in_attempts, in_max_attempts) is not null
        then
        set v_options = json_object('headers', json_extract(coalesce(in_headers, 'null'), '$'), 'priority',
            in_priority + 0, 'delay_seconds', in_delay_seconds + 0, 'scheduled_at', in_scheduled_at + 0, 'attempts',
            in_attempts + 0, 'max_attempts', in_max_attempts + 0);
    end if;
    call _queue_push(in_kind, in_key, in_payload, in_payload_bytes, v_options, v_key, v_at, out_outcome);
end;
