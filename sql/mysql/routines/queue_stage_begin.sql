drop procedure if exists queue_stage_begin;
delimiter $$
create procedure queue_stage_begin(in in_job text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)
    comment 'Begins to stage messages: rows of queue_stage that are no messages until queue_stage_publish makes them such, all at once. Insert
them in the same transaction; who fails before its end leaves nothing. What was staged and not published goes after a day.
in_job: what the part belongs to, 1 to 200 characters: queue_stage_abort removes all parts of it.
Result: part, the number to put into queue_stage.part.
Errors: PQ001 for job.
Locks: none.
Where the idea comes from: the staging tables of bulk loaders; writers that stage under a job and commit once.'
begin
    declare v_own boolean;
    declare v_tries int default 0;
    declare v_now, v_part, v_pruned bigint;
    again: loop
        begin
            declare exit handler for 1213 call _queue_again(v_own, v_tries);
            declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
            call _queue_begin(v_own);
            call queue_now(v_now);
            if char_length(in_job) between 1 and 200 is not true then
                call _queue_fail('PQ001', 'job', in_job, 'must have 1 to 200 characters');
            end if;
            call _queue_stage_prune(v_now, 1000, v_pruned);
            set v_part = uuid_short() & 9223372036854775807;
            insert into queue_stage_part (part, job, begun_at) values (v_part, in_job, v_now);
            call _queue_commit(v_own);
            leave again;
        end;
    end loop;
    select v_part as part;
end $$
delimiter ;
