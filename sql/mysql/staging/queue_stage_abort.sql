-- calls: _queue_again, _queue_begin, _queue_check_key, _queue_commit, _queue_stage_remove, _queue_undo
drop procedure if exists queue_stage_abort;
delimiter $$
create procedure queue_stage_abort(in in_job text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)
    comment 'Removes what is staged under a job and not published.
in_job: what was given to queue_stage_begin.
Result: removed: how many messages.
Errors: PQ001 for job.
Locks: the parts, in their order.'
begin
    declare v_own boolean;
    declare v_tries int default 0;
    declare v_removed, v_part, v_rows bigint;
    declare continue handler for not found begin end;
    again: loop
        begin
            declare exit handler for 1213, 1020 call _queue_again(v_own, v_tries);
            declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
            call _queue_begin(v_own);
            call _queue_check_key(in_job, 'job');
            set v_removed = 0;
            parts: loop
                set v_part = null;
                select p.part into v_part from queue_stage_part p force index (queue_stage_part_job)
                where p.job = in_job order by p.part limit 1 for update;
                if v_part is null then
                    leave parts;
                end if;
                call _queue_stage_remove(v_part, 9223372036854775807, v_rows);
                set v_removed = v_removed + v_rows;
            end loop;
            call _queue_commit(v_own);
            leave again;
        end;
    end loop;
    select v_removed as removed;
end $$
delimiter ;
