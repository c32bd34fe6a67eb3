-- calls: _queue_again, _queue_begin, _queue_commit, _queue_prune, _queue_undo
drop procedure if exists queue_prune;
delimiter $$
create procedure queue_prune(in in_max_rows bigint)
    comment 'Clears away what is past its time, in chunks. That is history, remembered keys and the log, older than
history_seconds, dedup_seconds and log_seconds of their kind say now; what was staged and never published; kinds that
are unused for longer than their expires_seconds; groups past their keep_seconds. It also removes messages that have
gone from the index of filters (each call looks at a part of it), and folds counters. Slots of semaphores whose holds
have expired go to who waits for them. Any number of sessions may call it at any time. queue_reserve and queue_pop do
a little of it by the way, so a kind that is in use needs nobody who calls it.
in_max_rows: how many rows to look at, 1 to 1000000; NULL: 10000.
Result: pruned: how many rows went; 0 when there is nothing left to do.
Errors: PQ001 for max_rows. On PostgreSQL there may be a warning: others may create in the schema of the queue, or
have; or anybody may execute its routines. It says what to do about it. Another warning says that a sequence was
behind its table, and has been set.
Locks: the rows; what others have locked is left.
differs: it also takes in what has landed in queue_inbox, where the server allows no trigger.'
begin
    declare v_own boolean;
    declare v_tries int default 0;
    declare v_pruned bigint;
    again: loop
        begin
            declare exit handler for 1213, 1020 call _queue_again(v_own, v_tries);
            declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
            call _queue_begin(v_own);
            call _queue_prune(in_max_rows, v_pruned);
            call _queue_commit(v_own);
            leave again;
        end;
    end loop;
    select v_pruned as pruned;
end $$
delimiter ;
