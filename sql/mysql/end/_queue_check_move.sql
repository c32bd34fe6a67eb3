-- calls: _queue_check_name, _queue_check_options, _queue_check_payload, _queue_push_options, _queue_text
create procedure _queue_check_move(in in_to_kind text collate exact, in in_options longtext, in in_now bigint,
    in in_place varchar(60))
    comment 'Refuses a target and options that queue_move doesn''t know.
in_to_kind, in_options: those of queue_move. in_now: the time of the call. in_place: what stands before the names in
errors.
Errors: PQ001, PQ002, PQ003.'
begin
    declare v_at bigint;
    declare v_priority smallint;
    declare v_attempts, v_max_attempts int;
    declare v_headers, v_key, v_none longtext;
    declare v_on_duplicate varchar(20);
    call _queue_check_name(in_to_kind, 95, concat(in_place, 'to_kind'));
    if in_options is not null then
        call _queue_check_options(in_options, 'payload,headers,key,delay_seconds,priority,on_duplicate',
            concat(in_place, 'options'));
        call _queue_push_options(json_remove(in_options, '$.payload', '$.key'), in_now, v_at, v_priority, v_headers,
            v_attempts, v_max_attempts, v_on_duplicate, v_none, v_none, v_none);
        call _queue_check_payload(in_options -> 'payload', concat(in_place, 'payload'));
        call _queue_text(in_options, 'key', v_key);
        if v_key is not null then
            call _queue_check_name(left(v_key, 201), 200, concat(in_place, 'key'));
        end if;
    end if;
end;
