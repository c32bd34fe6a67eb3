-- changes: queue_count
create or replace function _queue_fold_counts(in_max bigint) returns bigint language plpgsql as $$
declare
    v_folded bigint;
begin
    -- one at a time, so that no row need be locked before it is deleted, which would be as much WAL again
    if not pg_try_advisory_xact_lock(hashtextextended('queue_count', 'queue_count'::regclass::oid::bigint)) then
        return 0;
    end if;
    with d as (
        delete from queue_count c where c.ctid = any (array(select o.ctid from queue_count o limit in_max))
        returning c.*),
    i as (
        insert into queue_count
        select d.p_kind, sum(d.pushed), sum(d.reserved), sum(d.popped), sum(d.acked), sum(d.nacked), sum(d.moved),
            sum(d.dead), sum(d.expired), sum(d.lost)
        from d group by d.p_kind returning 1)
    select (select count(*) from d) - (select count(*) from i) into v_folded;
    return v_folded;
end $$;

comment on function _queue_fold_counts(bigint) is
$$Folds appended counters into one row a kind.
in_max: how many rows to look at.
Result: how many rows went; 0 while another transaction folds.
Locks: the rows, and an advisory lock of the transaction.$$;
