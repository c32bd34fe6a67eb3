-- calls: _queue_fail
create or replace function _queue_check_kind(in_kind text, in_most integer, in_name text) returns void
    language plpgsql as $$
begin
    if in_kind is null or in_kind = '' or char_length(in_kind) > in_most then
        perform _queue_fail('PQ001', in_name, in_kind, 'must have 1 to ' || in_most || ' characters');
    end if;
end $$;

comment on function _queue_check_kind(text, integer, text) is
$$Refuses what can't be a kind.
in_kind: the kind. in_most: the longest it may be: 95 characters where messages are put in, so that <kind>.dead fits
into the 100 of every other routine. in_name: the parameter's name for the message.
Errors: PQ001.$$;
