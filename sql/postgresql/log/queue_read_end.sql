-- calls: _queue_check_name
-- changes: queue_reader
create or replace function queue_read_end(in_reader text, out changed boolean)
    language plpgsql security definer set search_path from current set enable_seqscan = off as $$
begin
    perform _queue_check_name(in_reader, 200, 'reader');
    delete from queue_reader r where r.reader = in_reader;
    changed := found;
end $$;

comment on function queue_read_end(text) is
$$Forgets a reader and its place. Nobody has to: a reader keeps nothing in the log.
in_reader: the reader.
Result: changed: false where there is none.
Errors: PQ001 for reader.
Locks: the reader.$$;
