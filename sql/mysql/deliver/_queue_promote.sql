-- changes: delayed_queue
create procedure _queue_promote(in in_kind varchar(100) collate exact, in in_low bigint, in in_high bigint,
    in in_floor bigint, in in_max int, out out_first bigint)
    comment 'Moves messages that have come due from the timetable into the ready line.
in_kind: the kind. in_low, in_high: the part of the timetable. in_floor: the earliest place in the line that they may
get: where sessions no longer look at the line''s beginning, a place that nobody would see is none; those that would
have an earlier one stand behind it in their order, a microsecond apart. in_max: how many were asked for; 20 at the
least are moved, the best of the 1000 that came due first.
Result: the first place given; NULL where there was nothing.
Locks: those messages; what others have locked is left out.'
begin
    declare v_entries longtext;
    declare v_most int default greatest(in_max, 20);
    -- the best of what has come due, and few of them: a transaction that stays open keeps them from others
    select json_arrayagg(b.entry) into v_entries
    from (
        select c.entry from (
            select d.entry, d.priority, d.due_at from delayed_queue d force index (delayed_queue_due)
            where d.p_kind = in_kind and d.due_at between in_low and in_high order by d.due_at limit 1000) c
        order by c.priority desc, c.due_at, c.entry limit v_most) b;
    select json_arrayagg(l.entry), min(greatest(l.due_at, in_floor)) into v_entries, out_first
    from (
        select q.entry, q.due_at from messages(coalesce(v_entries, '[]')) q
        where q.p_kind = in_kind and q.due_at <= in_high for update of q skip locked) l;
    if v_entries is null then -- another transaction has all of these: the first of the others
        select json_arrayagg(c.entry) into v_entries
        from (
            select d.entry from delayed_queue d force index (delayed_queue_due)
            where d.p_kind = in_kind and d.due_at between in_low and in_high order by d.due_at limit 1000) c;
        select json_arrayagg(l.entry), min(greatest(l.due_at, in_floor)) into v_entries, out_first
        from (
            select q.entry, q.due_at from messages(coalesce(v_entries, '[]')) q
            where q.p_kind = in_kind and q.due_at <= in_high limit v_most for update of q skip locked) l;
    end if;
    if v_entries is not null then
        update messages(v_entries) with ordinality q
        set q.ready_rank = -q.priority, q.ready_at = greatest(q.due_at, in_floor + j.place), q.due_at = null;
    end if;
end;
