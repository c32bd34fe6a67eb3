-- calls: _queue_again, _queue_begin, _queue_check_kind, _queue_commit, _queue_undo
-- changes: queue_stream_kept
drop procedure if exists queue_stream_forget;
delimiter $$
create procedure queue_stream_forget(in in_source text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)
    comment 'Forgets what queue_stream_commit has kept of a read: whoever reads has noted himself that the batch is done, and will not ask for it again.
in_source: the read, as in queue_stream_plan, 1 to 230 characters.
Result: forgotten: how many messages.
Errors: PQ001 for source.
Locks: the rows.'
begin
    declare v_own boolean;
    declare v_tries int default 0;
    declare v_forgotten bigint;
    again: loop
        begin
            declare exit handler for 1213, 1020 call _queue_again(v_own, v_tries);
            declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
            call _queue_begin(v_own);
            call _queue_check_kind(in_source, 230, 'source');
            delete k from queue_stream_kept k where k.source = in_source;
            set v_forgotten = row_count();
            call _queue_commit(v_own);
            leave again;
        end;
    end loop;
    select v_forgotten as forgotten;
end $$
delimiter ;
