-- calls: _queue_fail
create or replace function _queue_check_count(in_count bigint, in_name text, in_most bigint) returns void
    language plpgsql as $$
begin
    if in_count is null or in_count < 1 or in_count > in_most then
        perform _queue_fail('PQ001', in_name, in_count::text, 'must be a whole number from 1 to ' || in_most);
    end if;
end $$;

comment on function _queue_check_count(bigint, text, bigint) is
$$Refuses a number of messages that is none.
in_count: the number. in_name: the parameter's name. in_most: the largest allowed.
Errors: PQ001.$$;
