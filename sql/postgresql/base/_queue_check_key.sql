-- calls: _queue_fail
create or replace function _queue_check_key(in_key text, in_name text) returns void language plpgsql as $$
begin
    if in_key is null or in_key = '' or char_length(in_key) > 200 then
        perform _queue_fail('PQ001', in_name, in_key, 'must have 1 to 200 characters');
    end if;
end $$;

comment on function _queue_check_key(text, text) is
$$Refuses what can't be a key.
in_key: the key. in_name: the parameter's name for the message.
Errors: PQ001.$$;
