-- changes: queue_stage, queue_stage_part
create procedure _queue_stage_remove(in in_part bigint, in in_max bigint, out out_removed bigint)
    comment 'Removes what was staged under a part, and the part once that is all.
in_part: the part, locked. in_max: how many messages at the most.
out_removed: how many messages.'
begin
    delete from queue_stage where queue_stage.part = in_part limit in_max;
    set out_removed = row_count();
    if out_removed < in_max then
        delete p from queue_stage_part p where p.part = in_part;
    end if;
end;
