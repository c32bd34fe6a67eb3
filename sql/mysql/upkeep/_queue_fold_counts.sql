-- changes: queue_count
create procedure _queue_fold_counts(in in_max int, out out_folded bigint)
    comment 'Folds appended counters into one row a kind.
in_max: how many rows to look at.
Result: how many rows went.
Locks: the rows; what others have locked is left.
out_folded: the result.'
begin
    declare v_ids longtext;
    declare v_kinds int;
    select json_arrayagg(o.id) into v_ids
    from (select c.id from queue_count c order by c.id limit in_max for update skip locked) o;
    select count(distinct c.p_kind) into v_kinds
    from unnest(coalesce(v_ids, '[]')) j (id bigint unsigned)
        straight_join queue_count c force index (primary) on c.id = j.id;
    set out_folded = coalesce(json_length(v_ids), 0) - v_kinds;
    if out_folded > 0 then
        insert into queue_count (id, p_kind, pushed, reserved, popped, acked, nacked, moved, dead, expired, lost)
        select uuid_short(), c.p_kind, sum(c.pushed), sum(c.reserved), sum(c.popped), sum(c.acked), sum(c.nacked),
            sum(c.moved), sum(c.dead), sum(c.expired), sum(c.lost)
        from unnest(v_ids) j (id bigint unsigned)
            straight_join queue_count c force index (primary) on c.id = j.id group by c.p_kind;
        delete c from unnest(v_ids) j (id bigint unsigned)
            straight_join queue_count c force index (primary) on c.id = j.id;
    end if;
end;
