-- calls: _queue_check_name
-- changes: queue_reader
create procedure queue_read_end(in in_reader text collate exact)
    comment 'Forgets a reader and its place. Nobody has to: a reader keeps nothing in the log.
in_reader: the reader.
Result: changed: false where there is none.
Errors: PQ001 for reader.
Locks: the reader.'
begin
    declare v_changed boolean;
    begin atomic
        call _queue_check_name(in_reader, 200, 'reader');
        delete r from queue_reader r where r.reader = in_reader;
        set v_changed = row_count() > 0;
    end atomic;
    select v_changed as changed;
end;
