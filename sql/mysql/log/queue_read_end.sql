-- calls: _queue_again, _queue_begin, _queue_check_key, _queue_commit, _queue_undo
-- changes: queue_reader
drop procedure if exists queue_read_end;
delimiter $$
create procedure queue_read_end(in in_reader text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)
    comment 'Forgets a reader and its place. Nobody has to: a reader keeps nothing in the log.
in_reader: the reader.
Result: changed: false where there is none.
Errors: PQ001 for reader.
Locks: the reader.'
begin
    declare v_own boolean;
    declare v_tries int default 0;
    declare v_changed boolean;
    again: loop
        begin
            declare exit handler for 1213, 1020 call _queue_again(v_own, v_tries);
            declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
            call _queue_begin(v_own);
            call _queue_check_key(in_reader, 'reader');
            select count(*) > 0 into v_changed from queue_reader r where r.reader = in_reader for update;
            delete r from queue_reader r where r.reader = in_reader;
            call _queue_commit(v_own);
            leave again;
        end;
    end loop;
    select v_changed as changed;
end $$
delimiter ;
