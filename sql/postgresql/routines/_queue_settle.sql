create or replace function _queue_settle(in_kind text, in_rank bigint, in_low bigint, in_high bigint, in_now bigint)
    returns void language plpgsql as $$
begin
    update delayed_queue q set ready_at = null, due_at = q.scheduled_at
    where q.ctid = any (array(
        select h.ctid from delayed_queue h
        where h.p_kind = in_kind and -h.priority::integer = in_rank and h.ready_at between in_low and in_high
            and h.scheduled_at > in_now
        order by h.p_kind, -h.priority::integer, h.ready_at, h.entry limit 1000 for update skip locked));
end $$;

comment on function _queue_settle(text, bigint, bigint, bigint, bigint) is
$$Moves holds that last from the ready line to the timetable, at their end, so that an expired one is found without a look
at the part of the line that lies behind.
in_kind: the kind. in_rank: the priority, negated. in_low, in_high: the part of the line. in_now: the time of the call.
Locks: at most 1000 held messages; what others have locked is left out.$$;
