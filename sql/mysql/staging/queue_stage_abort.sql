-- calls: _queue_check_name, _queue_stage_remove
create procedure queue_stage_abort(in in_job text collate exact)
    comment 'Removes what is staged under a job and not published.
in_job: what was given to queue_stage_begin.
Result: removed: how many messages.
Errors: PQ001 for job.
Locks: the parts, in their order.'
begin
    declare v_removed, v_part, v_rows bigint;
    begin atomic
        declare c cursor for
            select p.part from queue_stage_part p force index (queue_stage_part_job)
            where p.job = in_job order by p.part for update;
        call _queue_check_name(in_job, 200, 'job');
        set v_removed = 0;
        for each c into v_part do
            call _queue_stage_remove(v_part, 9223372036854775807, v_rows);
            set v_removed = v_removed + v_rows;
        end each;
    end atomic;
    select v_removed as removed;
end;
