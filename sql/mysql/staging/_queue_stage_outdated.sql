-- calls: _queue_stage_remove
drop procedure if exists _queue_stage_outdated;
delimiter $$
create procedure _queue_stage_outdated(in in_query text collate exact, in in_run text collate exact)
    comment 'Removes what an earlier run of a query has staged: nobody can publish it any more.
in_query: the query. in_run: the run that is there now. NULL of either: nothing is removed.
Locks: the parts; what others have locked is left.'
begin
    declare v_part, v_rows bigint;
    declare continue handler for not found begin end;
    parts: loop
        set v_part = null;
        select p.part into v_part from queue_stage_part p force index (queue_stage_part_query)
        where p.query = in_query and p.run <> in_run limit 1 for update skip locked;
        if v_part is null then
            leave parts;
        end if;
        call _queue_stage_remove(v_part, 9223372036854775807, v_rows);
    end loop;
end $$
delimiter ;
