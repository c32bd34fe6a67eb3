-- changes: delayed_queue
create or replace function _queue_promote(in_kind text, in_low bigint, in_high bigint, in_floor bigint, in_max integer)
    returns bigint language plpgsql as $$
declare
    v_tids tid[];
    v_first bigint;
begin
    -- the best of what has come due, and few of them: a transaction that stays open keeps them from others
    v_tids := array(select c.tid from (
        select d.ctid as tid, d.priority, d.due_at, d.entry from delayed_queue d
        where d.p_kind = in_kind and d.due_at between in_low and in_high
        order by d.p_kind, d.due_at limit 1000) c
        order by c.priority desc, c.due_at, c.entry limit greatest(in_max, 20));
    if v_tids = '{}' then
        return null;
    end if;
    v_tids := array(select l.tid from (
        select d.ctid as tid, d.due_at, d.entry from delayed_queue d
        where d.ctid = any (v_tids) and d.p_kind || '' = in_kind and d.due_at + 0 <= in_high for update skip locked) l
        order by l.due_at, l.entry);
    if v_tids = '{}' then -- another transaction has all of these: the first of the others
        v_tids := array(select d.ctid from delayed_queue d
            where d.p_kind = in_kind and d.due_at between in_low and in_high
            order by d.p_kind, d.due_at limit greatest(in_max, 20) for update skip locked);
    end if;
    with u as (
        update delayed_queue q set ready_at = greatest(q.due_at, in_floor + t.place), due_at = null
        from unnest(v_tids) with ordinality t (tid, place) where q.ctid = t.tid returning q.ready_at)
    select min(u.ready_at) into v_first from u;
    return v_first;
end $$;

comment on function _queue_promote(text, bigint, bigint, bigint, integer) is
$$Moves messages that have come due from the timetable into the ready line.
in_kind: the kind. in_low, in_high: the part of the timetable. in_floor: the earliest place in the line that they may
get: where sessions no longer look at the line's beginning, a place that nobody would see is none; those that would have
an earlier one stand behind it in their order, a microsecond apart. in_max: how many were asked for; 20 at the least are
moved, the best of the 1000 that came due first.
Result: the first place given; NULL where there was nothing.
Locks: those messages; what others have locked is left out.$$;
