-- calls: _queue_boolean, _queue_check_options, _queue_check_payload, _queue_number, _queue_text
create procedure _queue_check_nack(in in_options longtext)
    comment 'Refuses options that queue_nack doesn''t know.
in_options: the options.
Errors: PQ002, and PQ003 for the payload.'
begin
    declare v_number decimal(30,6);
    declare v_text longtext;
    declare v_flag boolean;
    if in_options is not null then
        call _queue_check_options(in_options, 'delay_seconds,error,payload,final,count', 'options');
        call _queue_number(in_options, 'delay_seconds', 0, 31536000, v_number);
        call _queue_text(in_options, 'error', v_text);
        call _queue_boolean(in_options, 'final', v_flag);
        call _queue_boolean(in_options, 'count', v_flag);
        call _queue_check_payload(in_options -> 'payload', 'payload');
    end if;
end;
