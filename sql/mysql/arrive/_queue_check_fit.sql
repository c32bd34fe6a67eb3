-- calls: _queue_fail, _queue_misfit
create procedure _queue_check_fit(in in_shape longtext, in in_payload longtext, in in_name varchar(100))
    comment 'Refuses a payload that is not of its kind.
in_shape: payload_shape of the kind, not NULL. in_payload: the payload; NULL: it is binary. in_name: the parameter''s
name for the message.
Errors: PQ003.'
begin
    declare v_misfit varchar(500);
    call _queue_misfit(in_shape, in_payload, v_misfit);
    if v_misfit is not null then
        call _queue_fail('PQ003', in_name, in_payload, v_misfit);
    end if;
end;
