-- calls: _queue_settings
-- changes: queue_log, queue_log_gone
create or replace function _queue_prune_log(in_kind text, in_now bigint, in_max bigint) returns bigint
    language plpgsql set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_seconds constant numeric := (_queue_settings(in_kind)).log_seconds;
    v_since constant bigint := case when v_seconds = 0 then 9223372036854775807
        else in_now - (v_seconds * 1000000)::bigint end;
    v_old tid[];
    v_pruned bigint;
begin
    -- the oldest tells whether there is anything to do; else all that is young would be looked at. BETWEEN: ADR 13
    if coalesce((select l.created_at from queue_log l where l.p_kind between in_kind and in_kind
            order by l.p_kind, l.position limit 1) > v_since, true) then
        return 0;
    end if;
    v_old := array(
        select o.ctid from queue_log o
        where o.created_at + 0 <= v_since and o.ctid = any (array(
            select i.ctid from queue_log i where i.p_kind between in_kind and in_kind
            order by i.p_kind, i.position limit in_max))
        for update skip locked);
    v_pruned := cardinality(v_old);
    with o as materialized (
        select l.position, l.event, c.p_kind, c.entry, case when c.p_kind is null then coalesce(l.name, '')
            else '' end as name
        from queue_log l
        left join lateral (
            select n.p_kind, n.entry from queue_log n
            where n.topic between l.topic and l.topic and n.copy_of = l.position and n.p_kind <> in_kind
            order by n.topic, n.copy_of, n.position limit 1) c on true
        where l.ctid = any (v_old)),
    g as (
        insert into queue_log_gone (p_kind, name, event, position)
        select in_kind, o.name, o.event, max(o.position) from o group by o.name, o.event),
    u as (
        update queue_log l set p_kind = o.p_kind, entry = o.entry, topic_only = true
        from o where l.position between o.position and o.position and o.p_kind is not null)
    delete from queue_log l using o where l.position between o.position and o.position and o.p_kind is null;
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
$$Removes from the log what of a kind is older than its log_seconds, or all where it has none, the oldest first, and
notes up to where. What stands under a topic stays there as long as another kind keeps a copy, for the readers of the
topic.
in_kind: the kind. in_now: the time of the call. in_max: how many rows at the most.
Result: how many, those that stay for a topic included.
Locks: the rows; what others have locked is left.$$;
