create or replace function _queue_held(in_kind text, in_until bigint, in_line bigint[], in_now bigint) returns bigint[]
    language plpgsql as $$
declare
    v_end bigint[] := (
        select h.line[2:] from queue_hold h
        where h.p_kind = in_kind and h.until >= in_until and h.line > in_line and h.line[1] = in_line[1]
        order by h.p_kind, h.until limit 1);
begin
    if v_end is null then -- the newest: as far as messages were taken
        select array[q.ready_at, q.entry] into v_end from delayed_queue q
        where q.p_kind = in_kind and -q.priority::integer = in_line[1] and q.ready_at is not null
            and (q.ready_at, q.entry) >= (in_line[2], in_line[3]) and q.reserved_at is null and q.scheduled_at <= in_now
        order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit 1;
    end if;
    return array(
        select q.entry from delayed_queue q
        where q.p_kind = in_kind and -q.priority::integer = in_line[1] and q.ready_at is not null
            and (q.ready_at, q.entry) >= (in_line[2], in_line[3])
            and (q.ready_at, q.entry) < (coalesce(v_end[1], 9223372036854775807), coalesce(v_end[2], 0))
            and q.reserved_at is not null);
end $$;

comment on function _queue_held(text, bigint, bigint[], bigint) is
$$The messages that are held in a stretch of the ready line: from a place that queue_hold has, to the next one that it
has.
in_kind: the kind. in_until, in_line: of the note in queue_hold. in_now: the time of the call.
Result: their entries.
differs: only here, see _queue_find_expired.$$;
