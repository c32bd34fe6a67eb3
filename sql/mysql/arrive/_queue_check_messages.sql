-- calls: _queue_check_json, _queue_fail
drop procedure if exists _queue_check_messages;
delimiter $$
create procedure _queue_check_messages(in in_messages longtext character set utf8mb4)
    comment 'Refuses what can''t be messages.
in_messages: those of queue_push_many.
Errors: PQ003 for what is no JSON, PQ001 for what is no array.
differs: PostgreSQL has read the JSON before the call.'
begin
    call _queue_check_json(in_messages, 'PQ003', 'messages');
    if json_type(in_messages) <> 'ARRAY' then
        call _queue_fail('PQ001', 'messages', in_messages, 'must be a JSON array of {key, payload, and push options}');
    end if;
end $$
delimiter ;
