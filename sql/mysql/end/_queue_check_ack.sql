-- calls: _queue_check_name, _queue_check_options, _queue_check_payload, _queue_check_roles, _queue_fail, _queue_text
create procedure _queue_check_ack(in in_options longtext)
    comment 'Refuses options that queue_ack doesn''t know.
in_options: those of queue_ack.
Errors: PQ001, PQ002, PQ003.'
begin
    declare v_to longtext collate exact;
    call _queue_check_options(in_options, 'result,to,payload', 'options');
    call _queue_check_payload(in_options -> 'result', 'result');
    if json_depth(in_options -> 'result') > 28 then
        call _queue_fail('PQ003', 'result', in_options -> 'result', 'must be at most 28 levels deep');
    end if;
    call _queue_check_payload(in_options -> 'payload', 'payload');
    call _queue_text(in_options, 'to', v_to);
    if v_to is not null then
        call _queue_check_name(v_to, 95, 'to');
        call _queue_check_roles(json_array(v_to));
    end if;
end;
