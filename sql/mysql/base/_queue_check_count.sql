-- calls: _queue_fail
create procedure _queue_check_count(in in_count bigint, in in_name varchar(100), in in_most bigint)
    comment 'Refuses a number of messages that is none.
in_count: the number. in_name: the parameter''s name. in_most: the largest allowed.
Errors: PQ001.'
begin
    if in_count is null or in_count < 1 or in_count > in_most then
        call _queue_fail('PQ001', in_name, in_count, concat('must be a whole number from 1 to ', in_most));
    end if;
end;
