-- calls: _queue_fail
create or replace function _queue_check_name(in_text text, in_most integer, in_name text) returns void
    language plpgsql as $$
begin
    if in_text is null or in_text = '' or char_length(in_text) > in_most then
        perform _queue_fail('PQ001', in_name, in_text, 'must have 1 to ' || in_most || ' characters');
    end if;
end $$;

comment on function _queue_check_name(text, integer, text) is
$$Refuses what can't be a kind, a key, or the name of something else.
in_text: the name. in_most: the longest it may be: 200 characters for a key, 95 for a kind where messages are put in, so
that <kind>.dead fits into the 100 of every other routine. in_name: the parameter's name for the message.
Errors: PQ001.$$;
