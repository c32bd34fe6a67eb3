create or replace function _queue_look_back(in_kind text, in_now bigint, in_max integer,
    in_bounds bigint[], out tids tid[], out expired bigint, out bounds bigint[]) language plpgsql as $$
declare
    v_lane constant integer := case when in_bounds[8] = 0 then 8 else 6 + 7 * in_bounds[8] end; -- 8: the timetable; 13, 20, …: the lanes
    v_high constant bigint := least(in_bounds[9], in_bounds[case when v_lane = 8 then 5 else v_lane + 1 end]);
    v_low constant bigint := greatest(v_high - in_bounds[10], 0);
    v_start constant bigint := _queue_ticks();
    v_took bigint;
    v_first bigint;
begin
    bounds := in_bounds;
    if v_lane = 8 then
        v_first := _queue_promote(in_kind, v_low, v_high, in_now - 1000000, in_max);
    else
        select array_agg(r.tid), count(r.reserved_at) into tids, expired from (
            select q.ctid as tid, q.reserved_at from delayed_queue q
            where q.p_kind = in_kind and -q.priority::integer = in_bounds[v_lane]
                and q.ready_at between v_low and v_high and (q.ready_at, q.entry) < (in_bounds[v_lane + 1], in_bounds[v_lane + 2])
                and q.scheduled_at <= in_now
            order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit in_max for update skip locked) r;
    end if;
    v_took := _queue_ticks() - v_start;
    bounds[10] := case when v_took < 2000 then least(in_bounds[10] * 2, 1000000000000000)
        when v_took > 10000 then greatest(in_bounds[10] / 2, 1000) else in_bounds[10] end;
    bounds[1] := v_start + 50 * v_took;
    bounds[11] := in_bounds[11] + v_took;
    if tids is not null or v_first is not null then
        bounds[1] := v_start + 2 * v_took; -- where one was, more may be: soon again here, and in between at the others
        bounds[2] := case when v_first is null then in_bounds[2] else 0 end; -- it stands before the bounds now
    elsif v_low > 0 then
        bounds[9] := v_low - 1;
    else -- this lane is done; after the last one, what the whole round took says whether a scan from the start is slow
        bounds[9] := 9223372036854775807;
        bounds[10] := 100000; -- the recent past is where there is much
        bounds[8] := in_bounds[8] + 1;
        if 13 + 7 * in_bounds[8] > cardinality(in_bounds) then
            bounds[8] := 0;
            bounds[4] := bounds[11];
            bounds[11] := 0;
            if bounds[4] <= 5000 then
                perform _queue_forget_hints(in_kind, 9223372036854775807::bigint);
            end if;
        end if;
    end if;
end $$;

comment on function _queue_look_back(text, bigint, integer, bigint[]) is
$$One step of the look at what lies behind the bounds: a part of the timetable or of a lane, going back in time, as long as
takes 2 to 10 ms; the next step comes when it has been 2% of the time that passed.
in_kind: the kind. in_now: the time of the call. in_max: how many. in_bounds: see _queue_take.
Result: tids of ready messages that were found, locked, and how many of them are expired holds; bounds as they are now.
Locks: those messages; what others have locked is left out.$$;
