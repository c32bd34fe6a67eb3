-- calls: _queue_check_json, _queue_check_payload, _queue_fail
create procedure _queue_check_inbox_row(in in_payload longtext, in in_payload_bytes longblob, in in_headers longtext,
    in in_priority int, in in_delay_seconds decimal(30,6), in in_scheduled_at bigint, in in_attempts int,
    in in_max_attempts int, out out_options longtext)
    comment 'One row of the inbox, checked.
in_payload, in_payload_bytes: its payload, as one or the other. The other parameters are its other columns.
Result: its options.
Errors: PQ003 for its payload, and where its headers are no JSON.
differs: a row can''t be a parameter. _queue_push, which is called with the options, checks all else. The result is
out_options.'
begin
    set out_options = null;
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
        set out_options = json_object('headers', json_extract(coalesce(in_headers, 'null'), '$'), 'priority',
            in_priority + 0, 'delay_seconds', in_delay_seconds + 0, 'scheduled_at', in_scheduled_at + 0, 'attempts',
            in_attempts + 0, 'max_attempts', in_max_attempts + 0);
    end if;
end;
