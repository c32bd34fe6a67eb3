create or replace function _queue_look_aside(in_kind text, in_now bigint, in_max integer, in_start bigint, in_bounds bigint[],
    out tids tid[], out expired bigint, out bounds bigint[]) language plpgsql as $$
declare
    v_low bigint;
begin
    bounds := in_bounds;
    if in_start >= in_bounds[2] then
        select f.tids, f.low into tids, v_low from _queue_find_expired(in_kind, in_bounds[12], in_now, in_max) f;
        bounds[12] := v_low;
        expired := cardinality(tids);
    end if;
    if tids is null and in_start >= in_bounds[1] then
        select b.tids, b.expired, b.bounds into tids, expired, bounds from _queue_look_back(in_kind, in_now, in_max, bounds) b;
    end if;
end $$;

comment on function _queue_look_aside(text, bigint, integer, bigint, bigint[]) is
$$The looks at what the scan from the bounds can't see: holds that have expired, and a step of the look back.
in_kind: the kind. in_now: the time of the call. in_max: how many. in_start: the real clock. in_bounds: see _queue_take.
Result: tids, row identifiers (NULL for none), how many of them are expired holds, and the bounds as they are now.
Locks: the messages found; what others have locked is left out.$$;
