create or replace function _queue_prune_log(in_kind text, in_now bigint, in_max bigint) returns bigint
    language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
declare
    v_seconds constant numeric := (_queue_settings(in_kind)).log_seconds;
    v_since constant bigint := case when v_seconds = 0 then 9223372036854775807 else in_now - (v_seconds * 1000000)::bigint end;
    v_pruned bigint;
begin
    -- the oldest tells whether there is anything to do; else all that is young would be looked at
    if (select l.created_at from queue_log l where l.p_kind = in_kind order by l.p_kind, l.position limit 1) > v_since then
        return 0;
    end if;
    with d as (
        delete from queue_log l
        where l.ctid = any (array(
            select o.ctid from queue_log o
            where o.created_at + 0 <= v_since and o.ctid = any (array(
                select i.ctid from queue_log i where i.p_kind = in_kind order by i.p_kind, i.position limit in_max))
            for update skip locked))
        returning l.p_kind, coalesce(l.name, '') as name, l.event, l.position),
    g as (
        insert into queue_log_gone (p_kind, name, event, position)
        select d.p_kind, d.name, d.event, max(d.position) from d group by d.p_kind, d.name, d.event)
    select count(*) into v_pruned from d;
    if v_pruned > 0 then
        delete from queue_log_gone g
        where g.ctid = any (array(
            select o.ctid from queue_log_gone o
            where o.p_kind = in_kind and exists (
                select from queue_log_gone n
                where n.p_kind = o.p_kind and n.name = o.name and n.event = o.event and n.position > o.position)
            for update skip locked));
    end if;
    return v_pruned;
end $$;

comment on function _queue_prune_log(text, bigint, bigint) is
$$Removes from the log what of a kind is older than its log_seconds, or all where it has none, the oldest first, and notes
up to where.
in_kind: the kind. in_now: the time of the call. in_max: how many rows at the most.
Result: how many.
Locks: the rows; what others have locked is left.$$;
