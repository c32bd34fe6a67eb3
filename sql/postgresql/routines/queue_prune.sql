create or replace function queue_prune(in_max_rows bigint default null, out pruned bigint)
    language plpgsql
    security definer set search_path from current as $$
begin
    in_max_rows := coalesce(in_max_rows, 10000);
    perform _queue_check_count(in_max_rows, 'max_rows', 1000000);
    with d as (
        delete from queue_count c
        where c.ctid = any (array(select o.ctid from queue_count o limit in_max_rows for update skip locked))
        returning c.*),
    i as (
        insert into queue_count
        select d.p_kind, sum(d.pushed), sum(d.reserved), sum(d.popped), sum(d.acked), sum(d.nacked), sum(d.moved), sum(d.dead),
            sum(d.expired)
        from d group by d.p_kind returning 1)
    select (select count(*) from d) - (select count(*) from i) into pruned;
end $$;

comment on function queue_prune(bigint) is
$$Clears away what is past its time, in chunks: folds counters. Any number of sessions may call it at any time, and queue_reserve
does so now and then.
in_max_rows: how many rows to look at, 1 to 1000000, NULL: 10000.
Result: pruned: how many rows went; 0 when there is nothing left to do.
Errors: PQ001 for max_rows.
Locks: the rows; what others have locked is left.$$;
