drop procedure if exists queue_reap;
delimiter $$
create procedure queue_reap()
    comment 'Frees at once what registered workers hold that are dead: whose session has ended, or whose heartbeat is too old. A reserve or pop in
twenty does the same by the way.
Result: a row for each worker that was found dead: worker, and freed, how many messages it held; 1000 together in one call, which may have to be made again.
Then the worker is forgotten; should it come back, its heartbeat registers it anew.
A freed message can be taken from now on, standing last among those of its priority; the delivery counts as an attempt, as one that expires does,
and is counted as expired; an error says that the worker is gone; where it was the last delivery that the message may have, it becomes
a dead letter. The receipt is lost from now on, though nobody else has got the message yet: it will be delivered, and one that was acked after
that would be done twice. Holds that have expired are free already and stay as they are.
Slots of semaphores whose holds have ended or expired are given to who waits for them.
Errors: none.
Locks: the dead workers, and the messages in the order of their entries; what others have locked is left out, so two calls free once; semaphores.
Where the idea comes from: the workers of Chapman, which have an identity.'
begin
    declare v_tries int default 0;
    declare v_own boolean;
    declare v_now, v_looked bigint;
    declare v_reaped longtext character set utf8mb4;
    again: loop
        begin
            declare exit handler for 1213, 1020 call _queue_again(v_own, v_tries);
            declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
            call _queue_begin(v_own);
            call queue_now(v_now);
            call _queue_groups_due(v_now, v_looked);
            call _queue_reap(v_now, 1000, v_reaped);
            call _queue_slot_sweep(v_now);
            call _queue_commit(v_own);
            leave again;
        end;
    end loop;
    select r.worker, r.freed
    from json_table(v_reaped, '$[*]' columns (place for ordinality, worker varchar(200) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$[0]', freed bigint path '$[1]')) r
    order by r.place;
end $$
delimiter ;
