-- calls: _queue_stage_remove
-- changes: queue_stage_done, queue_stream_kept, queue_stream_part, queue_stream_plan, queue_write
create procedure _queue_stage_prune(in in_now bigint, in in_max bigint, out out_pruned bigint)
    comment 'Removes what writers and readers of batches have left: stages older than a day and those of batches that
are done, batches not committed, or kept, for a week, what came of those that were published, and queries of which
nothing came for a year.
in_now: the time of the call. in_max: how many rows of each at the most.
out_pruned: how many rows.
Locks: the rows; what others have locked is left.'
begin
    declare v_part, v_rows bigint;
    declare v_query varchar(200) collate exact default '';
    declare continue handler for not found begin end;
    set out_pruned = 0;
    parts: loop
        set v_part = null;
        select p.part into v_part
        from (
            select n.part from queue_stage_part n force index (queue_stage_part_begun)
            where n.begun_at <= in_now - 86400000000 order by n.begun_at limit 100) j
            straight_join queue_stage_part p force index (primary) on p.part = j.part
        limit 1 for update of p skip locked;
        while v_part is null and v_query is not null do -- query by query: one may have many parts
            select p.part into v_part
            from (
                select n.part from queue_stage_part n force index (queue_stage_part_batch)
                where n.query = v_query and n.batch <= (select d.batch from queue_stage_done d where d.query = v_query)
                order by n.batch limit 100) j
                straight_join queue_stage_part p force index (primary) on p.part = j.part
            limit 1 for update of p skip locked;
            if v_part is null then
                select min(n.query) into v_query from queue_stage_part n where n.query > v_query;
            end if;
        end while;
        if v_part is null or out_pruned >= in_max then
            leave parts;
        end if;
        call _queue_stage_remove(v_part, in_max - out_pruned, v_rows);
        set out_pruned = out_pruned + v_rows;
    end loop;
    -- looked for without a lock, which the first row behind the end of the range would get as well
    delete p from (select n.source, n.part from queue_stream_part n force index (queue_stream_part_begun)
        where n.begun_at <= in_now - 604800000000 order by n.begun_at limit in_max) n
        straight_join queue_stream_part p force index (primary) on p.source = n.source and p.part = n.part
    where p.begun_at <= in_now - 604800000000
    skip locked by (source varchar(230) collate exact, part int) into out_pruned;
    delete k from (select n.source, n.part, n.place from queue_stream_kept n force index (queue_stream_kept_at)
        where n.kept_at <= in_now - 604800000000 order by n.kept_at limit in_max) n
        straight_join queue_stream_kept k force index (primary)
            on k.source = n.source and k.part = n.part and k.place = n.place
    where k.kept_at <= in_now - 604800000000
    skip locked by (source varchar(230) collate exact, part int, place int) into out_pruned;
    delete l from (select n.source from queue_stream_plan n force index (queue_stream_plan_begun)
        where n.begun_at <= in_now - 604800000000 order by n.begun_at limit in_max) n
        straight_join queue_stream_plan l force index (primary) on l.source = n.source
    where l.begun_at <= in_now - 604800000000
    skip locked by (source varchar(230) collate exact) into out_pruned;
    delete w from (select n.id from queue_write n force index (queue_write_at)
        where n.written_at <= in_now - 604800000000 order by n.written_at limit in_max) n
        straight_join queue_write w force index (primary) on w.id = n.id
    where w.written_at <= in_now - 604800000000
    skip locked by (id bigint) into out_pruned;
    delete d from (select n.query from queue_stage_done n force index (queue_stage_done_at)
        where n.done_at <= in_now - 31536000000000 order by n.done_at limit in_max) n
        straight_join queue_stage_done d force index (primary) on d.query = n.query
    where d.done_at <= in_now - 31536000000000
    skip locked by (query varchar(200) collate exact) into out_pruned;
end;
