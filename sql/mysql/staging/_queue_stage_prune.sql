-- calls: _queue_stage_remove
-- changes: queue_stage_done, queue_stream_kept, queue_stream_part, queue_stream_plan, queue_write
drop procedure if exists _queue_stage_prune;
delimiter $$
create procedure _queue_stage_prune(in in_now bigint, in in_max bigint, out out_pruned bigint)
    comment 'Removes what writers and readers of batches have left: stages older than a day and those of batches that
are done, batches not committed, or kept, for a week, what came of those that were published, and queries of which
nothing came for a year.
in_now: the time of the call. in_max: how many rows of each at the most.
out_pruned: how many rows.
Locks: the rows; what others have locked is left.'
begin
    declare v_part, v_rows bigint;
    declare continue handler for not found begin end;
    set out_pruned = 0;
    parts: loop
        set v_part = null;
        select p.part into v_part from queue_stage_part p force index (queue_stage_part_begun)
        where p.begun_at <= in_now - 86400000000 order by p.begun_at limit 1 for update skip locked;
        if v_part is null then
            select p.part into v_part from queue_stage_part p
            where p.query is not null
                and exists (select 1 from queue_stage_done d where d.query = p.query and d.batch >= p.batch)
            limit 1 for update skip locked;
        end if;
        if v_part is null or out_pruned >= in_max then
            leave parts;
        end if;
        call _queue_stage_remove(v_part, in_max - out_pruned, v_rows);
        set out_pruned = out_pruned + v_rows;
    end loop;
    if exists (select 1 from queue_stream_part p where p.begun_at <= in_now - 604800000000) then
        delete from queue_stream_part where queue_stream_part.begun_at <= in_now - 604800000000
            order by queue_stream_part.begun_at limit in_max;
        set out_pruned = out_pruned + row_count();
    end if;
    if exists (select 1 from queue_stream_kept k where k.kept_at <= in_now - 604800000000) then
        delete from queue_stream_kept where queue_stream_kept.kept_at <= in_now - 604800000000
            order by queue_stream_kept.kept_at limit in_max;
        set out_pruned = out_pruned + row_count();
    end if;
    if exists (select 1 from queue_stream_plan l where l.begun_at <= in_now - 604800000000) then
        delete from queue_stream_plan where queue_stream_plan.begun_at <= in_now - 604800000000
            order by queue_stream_plan.begun_at limit in_max;
        set out_pruned = out_pruned + row_count();
    end if;
    if exists (select 1 from queue_write w where w.written_at <= in_now - 604800000000) then
        delete from queue_write where queue_write.written_at <= in_now - 604800000000
            order by queue_write.written_at limit in_max;
        set out_pruned = out_pruned + row_count();
    end if;
    if exists (select 1 from queue_stage_done d where d.done_at <= in_now - 31536000000000) then
        delete from queue_stage_done where queue_stage_done.done_at <= in_now - 31536000000000
            order by queue_stage_done.done_at limit in_max;
        set out_pruned = out_pruned + row_count();
    end if;
end $$
delimiter ;
