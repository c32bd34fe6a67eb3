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
    declare v_found longtext character set utf8mb4;
    declare v_past boolean;
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
    -- the oldest first without a lock, which EXISTS in an IF would take
    select min(p.begun_at) <= in_now - 604800000000 into v_past from queue_stream_part p;
    if v_past then
        /*M!100600 set statement group_concat_max_len = 1000000000 for */
        select json_arrayagg(json_array(o.source, o.part)) into v_found
        from (select p.source, p.part from queue_stream_part p force index (queue_stream_part_begun)
            where p.begun_at <= in_now - 604800000000 order by p.begun_at limit in_max for update skip locked) o;
        /*M!100600 set statement sql_safe_updates = 0 for */
        delete p from json_table(coalesce(v_found, '[]'), '$[*]'
            columns (source varchar(230) collate exact path '$[0]', part int path '$[1]')) j
            straight_join queue_stream_part p force index (primary) on p.source = j.source and p.part = j.part;
        set out_pruned = out_pruned + coalesce(json_length(v_found), 0);
    end if;
    select min(k.kept_at) <= in_now - 604800000000 into v_past from queue_stream_kept k;
    if v_past then
        /*M!100600 set statement group_concat_max_len = 1000000000 for */
        select json_arrayagg(json_array(o.source, o.part, o.place)) into v_found
        from (select k.source, k.part, k.place from queue_stream_kept k force index (queue_stream_kept_at)
            where k.kept_at <= in_now - 604800000000 order by k.kept_at limit in_max for update skip locked) o;
        /*M!100600 set statement sql_safe_updates = 0 for */
        delete k from json_table(coalesce(v_found, '[]'), '$[*]'
            columns (source varchar(230) collate exact path '$[0]', part int path '$[1]', place int path '$[2]')) j
            straight_join queue_stream_kept k force index (primary)
                on k.source = j.source and k.part = j.part and k.place = j.place;
        set out_pruned = out_pruned + coalesce(json_length(v_found), 0);
    end if;
    select min(l.begun_at) <= in_now - 604800000000 into v_past from queue_stream_plan l;
    if v_past then
        /*M!100600 set statement group_concat_max_len = 1000000000 for */
        select json_arrayagg(o.source) into v_found
        from (select l.source from queue_stream_plan l force index (queue_stream_plan_begun)
            where l.begun_at <= in_now - 604800000000 order by l.begun_at limit in_max for update skip locked) o;
        /*M!100600 set statement sql_safe_updates = 0 for */
        delete l from json_table(coalesce(v_found, '[]'), '$[*]' columns (source varchar(230) collate exact path '$')) j
            straight_join queue_stream_plan l force index (primary) on l.source = j.source;
        set out_pruned = out_pruned + coalesce(json_length(v_found), 0);
    end if;
    select min(w.written_at) <= in_now - 604800000000 into v_past from queue_write w;
    if v_past then
        /*M!100600 set statement group_concat_max_len = 1000000000 for */
        select json_arrayagg(o.id) into v_found
        from (select w.id from queue_write w force index (queue_write_at)
            where w.written_at <= in_now - 604800000000 order by w.written_at limit in_max for update skip locked) o;
        /*M!100600 set statement sql_safe_updates = 0 for */
        delete w from json_table(coalesce(v_found, '[]'), '$[*]' columns (id bigint path '$')) j
            straight_join queue_write w force index (primary) on w.id = j.id;
        set out_pruned = out_pruned + coalesce(json_length(v_found), 0);
    end if;
    select min(d.done_at) <= in_now - 31536000000000 into v_past from queue_stage_done d;
    if v_past then
        /*M!100600 set statement group_concat_max_len = 1000000000 for */
        select json_arrayagg(o.query) into v_found
        from (select d.query from queue_stage_done d force index (queue_stage_done_at)
            where d.done_at <= in_now - 31536000000000 order by d.done_at limit in_max for update skip locked) o;
        /*M!100600 set statement sql_safe_updates = 0 for */
        delete d from json_table(coalesce(v_found, '[]'), '$[*]' columns (query varchar(200) collate exact path '$')) j
            straight_join queue_stage_done d force index (primary) on d.query = j.query;
        set out_pruned = out_pruned + coalesce(json_length(v_found), 0);
    end if;
end $$
delimiter ;
