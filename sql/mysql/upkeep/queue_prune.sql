-- calls: _queue_prune
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
    declare v_pruned bigint;
    begin atomic
        call _queue_prune(in_max_rows, v_pruned);
    end atomic;
    select v_pruned as pruned;
end $$
delimiter ;
