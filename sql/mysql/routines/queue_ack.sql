drop procedure if exists queue_ack;
delimiter $$
create procedure queue_ack(in in_receipt text character set utf8mb4, in in_options longtext character set utf8mb4)
    comment 'The work is done: removes the message, and keeps it in queue_history where the kind has history_seconds. What was pushed onto it while it was held is put in now.
in_receipt: what queue_reserve answered. in_options: none yet.
Result: receipt, outcome: acked; lost where somebody else has got the message since, or it was acked, moved or removed.
After the timeout, but before the next delivery, an ack still counts. lost is an answer: nothing has changed.
Errors: PQ005 for what is no receipt, PQ002 for options.
Locks: the message.'
begin
    declare v_own boolean;
    declare v_tries int default 0;
    declare v_outcome varchar(10) character set utf8mb4;
    again: loop
        begin
            declare exit handler for 1213 call _queue_again(v_own, v_tries);
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
