-- calls: _queue_check_json, _queue_fail
create procedure _queue_check_payload(in in_payload longtext, in in_name varchar(100))
    comment 'Refuses JSON that not every server can hold.
in_payload: the payload; NULL: nothing is refused. in_name: the parameter''s name for the message.
Errors: PQ003 where it is deeper than 31 levels (a scalar is one level), or has a number beyond double precision.
differs: refuses what is no JSON, too, which PostgreSQL does before.'
begin
    if in_payload is not null then
        call _queue_check_json(in_payload, 'PQ003', in_name);
        if json_depth(in_payload) > 31 then
            call _queue_fail('PQ003', in_name, in_payload, 'must be at most 31 levels deep');
        end if;
    end if;
end;
