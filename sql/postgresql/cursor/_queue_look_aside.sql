-- calls: _queue_find_expired, _queue_look_back
create or replace function _queue_look_aside(in_kind text, in_now bigint, in_max integer, in_start bigint, in_cursor queue_cursor,
    out tids tid[], out expired bigint, out moved queue_cursor) language plpgsql as $$
declare
    v_low bigint;
    v_back record;
begin
    moved := in_cursor;
    if in_start >= in_cursor.marks_at then
        select f.tids, f.low into tids, v_low from _queue_find_expired(in_kind, in_cursor.hold_from, in_now, in_max) f;
        moved.hold_from := v_low;
        expired := cardinality(tids);
    end if;
    if tids is null and in_start >= in_cursor.start_at then
        v_back := _queue_look_back(in_kind, in_now, in_max, moved);
        tids := v_back.tids;
        expired := v_back.expired;
        moved := v_back.moved;
    end if;
end $$;

comment on function _queue_look_aside(text, bigint, integer, bigint, queue_cursor) is
$$The looks at what the scan from the cursor can't see: holds that have expired, and a step of the look back.
in_kind: the kind. in_now: the time of the call. in_max: how many. in_start: the real clock. in_cursor: the cursor.
Result: tids, row identifiers (NULL for none); expired, how many of them are expired holds; moved, the cursor as it is now.
Locks: the messages found; what others have locked is left out.$$;
