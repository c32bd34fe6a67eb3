drop procedure if exists queue_ack;
delimiter $$
create procedure queue_ack(in in_receipt text character set utf8mb4, in in_options longtext character set utf8mb4)
    comment 'The work is done: removes the message, and keeps it in queue_history where the kind has history_seconds. What was pushed onto it while it was held is put in now.
in_receipt: what queue_reserve answered. in_options: result (JSON, at most 28 levels deep, kept in
queue_history and given to its group); to: the kind that it goes on to, which is
how a consumer chooses; payload: the new payload that it goes on with, ignored where this is its end.
A message that has a route, see queue_push, moves on to the next kind of that, or to the one of option to in place of it; the rest
of the route goes with it. One without is moved by option to alone. This is queue_move: a new entry in the same transaction. A dead letter
stays off its route unless it is redriven: its ack ends it.
Result: receipt, outcome: acked; moved, to the next kind; duplicate: its key is taken there, see queue_move; lost where somebody else has got the message since, or it was acked, moved or removed.
After the timeout, but before the next delivery, an ack still counts. lost is an answer: nothing has changed.
Errors: PQ005 for what is no receipt, PQ001 for to, PQ002 for options, PQ003 for result and payload, PQ004 where the next kind is
drained; then it is still held.
Locks: the message, the next in the line of its order key, and where it goes on the first of that line
there and the one that has its key there, in the order of their entries; its semaphores.
Where the idea comes from: Keuss''s pipelines, with their direct, choice and sink links.'
begin
    declare v_own boolean;
    declare v_tries int default 0;
    declare v_outcome varchar(10) character set utf8mb4;
    again: loop
        begin
            declare exit handler for 1213, 1020 call _queue_again(v_own, v_tries);
            declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
            call _queue_begin(v_own);
            call _queue_ack(in_receipt, in_options, v_outcome);
            call _queue_commit(v_own);
            leave again;
        end;
    end loop;
    select in_receipt as receipt, v_outcome as outcome;
end $$
delimiter ;
