-- calls: _queue_stage_remove
create or replace function _queue_stage_outdated(in_query text, in_run text) returns void
    language plpgsql set enable_seqscan = off set enable_bitmapscan = off as $$
begin
    perform _queue_stage_remove(p.part, 9223372036854775807)
    from (
        select o.part from queue_stage_part o where o.query = in_query and o.run <> in_run
        order by o.part for update skip locked) p;
end $$;

comment on function _queue_stage_outdated(text, text) is
$$Removes what an earlier run of a query has staged: nobody can publish it any more.
in_query: the query. in_run: the run that is there now. NULL of either: nothing is removed.
Locks: the parts; what others have locked is left.$$;
