create or replace function _queue_check_reader(in_reader text) returns void language plpgsql as $$
begin
    if in_reader is null or char_length(in_reader) not between 1 and 200 then
        perform _queue_fail('PQ001', 'reader', in_reader, 'must have 1 to 200 characters');
    end if;
end $$;

comment on function _queue_check_reader(text) is
$$Refuses what can't be the name of a reader.
in_reader: it, 1 to 200 characters.
Errors: PQ001.$$;
