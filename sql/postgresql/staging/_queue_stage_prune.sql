-- calls: _queue_stage_remove
-- changes: queue_stage_done, queue_stream_kept, queue_stream_part, queue_stream_plan, queue_write
create or replace function _queue_stage_prune(in_now bigint, in_max bigint) returns bigint
    language plpgsql set enable_seqscan = off as $$
declare
    v_pruned bigint := 0;
    v_rows bigint;
    v_part bigint;
    v_query text := '';
begin
    loop
        v_part := null;
        select p.part into v_part from queue_stage_part p
        where p.begun_at <= in_now - 86400000000 order by p.begun_at limit 1 for update skip locked;
        while v_part is null and v_query is not null loop -- query by query: one may have many parts
            select p.part into v_part from queue_stage_part p
            where p.query = v_query and p.batch <= (select d.batch from queue_stage_done d where d.query = v_query)
            order by p.query, p.batch limit 1 for update skip locked;
            if v_part is null then
                v_query := (select min(p.query) from queue_stage_part p where p.query > v_query);
            end if;
        end loop;
        exit when v_part is null or v_pruned >= in_max;
        v_pruned := v_pruned + _queue_stage_remove(v_part, in_max - v_pruned);
    end loop;
    delete from queue_stream_part p where p.ctid = any (array(
        select o.ctid from queue_stream_part o where o.begun_at <= in_now - 604800000000
        order by o.begun_at limit in_max for update skip locked));
    get diagnostics v_rows = row_count;
    v_pruned := v_pruned + v_rows;
    delete from queue_stream_kept k where k.ctid = any (array(
        select o.ctid from queue_stream_kept o where o.kept_at <= in_now - 604800000000
        order by o.kept_at limit in_max for update skip locked));
    get diagnostics v_rows = row_count;
    v_pruned := v_pruned + v_rows;
    delete from queue_stream_plan l where l.ctid = any (array(
        select o.ctid from queue_stream_plan o where o.begun_at <= in_now - 604800000000
        order by o.begun_at limit in_max for update skip locked));
    get diagnostics v_rows = row_count;
    v_pruned := v_pruned + v_rows;
    delete from queue_write w where w.ctid = any (array(
        select o.ctid from queue_write o where o.written_at <= in_now - 604800000000
        order by o.written_at limit in_max for update skip locked));
    get diagnostics v_rows = row_count;
    v_pruned := v_pruned + v_rows;
    delete from queue_stage_done d where d.ctid = any (array(
        select o.ctid from queue_stage_done o where o.done_at <= in_now - 31536000000000
        order by o.done_at limit in_max for update skip locked));
    get diagnostics v_rows = row_count;
    return v_pruned + v_rows;
end $$;

comment on function _queue_stage_prune(bigint, bigint) is
$$Removes what writers and readers of batches have left: stages older than a day and those of batches that are done,
batches not committed, or kept, for a week, what came of those that were published, and queries of which nothing came
for a year.
in_now: the time of the call. in_max: how many rows of each at the most.
Result: how many rows.
Locks: the rows; what others have locked is left.$$;
