-- calls: _queue_check_name, _queue_check_payload, _queue_fail, _queue_merge_options, _queue_push_options
create procedure _queue_message(in in_message longtext, in in_number bigint, in in_defaults longtext, in in_now bigint,
    out out_key text collate exact, out out_payload longtext, out out_scheduled_at bigint, out out_priority smallint,
    out out_headers longtext, out out_attempts int, out out_max_attempts int, out out_on_duplicate varchar(20),
    out out_route longtext, out out_order varchar(200) collate exact, out out_semaphores longtext)
    comment 'One message of a batch, checked.
in_message: {key, payload, and push options}. in_number: its place, from 1. in_defaults: the options of the batch; those
of the message win. in_now: the time of the call.
Result: its key, and each option, or its default.
Errors: PQ001, PQ002, PQ003, naming the place as messages[0], messages[1], ….
out_key, out_payload, …: the result, with the payload.'
begin
    declare v_place varchar(60) default concat('messages[', in_number - 1, ']');
    declare v_own, v_options longtext;
    if coalesce(json_type(in_message), 'NULL') <> 'OBJECT' then
        call _queue_fail('PQ001', v_place, coalesce(in_message, 'null'),
            'must be an object {key, payload, and push options}');
    elseif json_type(in_message -> 'key') <> 'STRING' then
        call _queue_fail('PQ001', concat(v_place, '.key'), json_unquote(in_message -> 'key'),
            'must be a string');
    end if;
    set out_key = left(json_unquote(in_message -> 'key'), 201);
    call _queue_check_name(out_key, 200, concat(v_place, '.key'));
    set out_payload = coalesce(in_message -> 'payload', 'null');
    call _queue_check_payload(out_payload, concat(v_place, '.payload'));
    set v_own = json_remove(in_message, '$.key', '$.payload');
    if json_contains_path(v_own, 'one', '$.delay_seconds', '$.scheduled_at') then
        set in_defaults = json_remove(in_defaults, '$.delay_seconds', '$.scheduled_at');
    end if;
    call _queue_merge_options(in_defaults, v_own, v_options);
    call _queue_push_options(v_options, in_now, out_scheduled_at, out_priority, out_headers, out_attempts,
        out_max_attempts, out_on_duplicate, out_route, out_order, out_semaphores);
end;
