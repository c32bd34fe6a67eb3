-- calls: _queue_effort, _queue_forget_cursors, _queue_promote, _queue_ticks
create or replace function _queue_look_back(in_kind text, in_now bigint, in_max integer,
    in_cursor queue_cursor, out tids tid[], out moved queue_cursor) language plpgsql as $$
declare
    v_lane constant integer := in_cursor.back_lane;
    v_high constant bigint := least(in_cursor.back_place,
        case when v_lane = 0 then in_cursor.due else in_cursor.places[v_lane] end);
    v_low constant bigint := greatest(v_high - in_cursor.back_span, 0);
    v_effort constant bigint := _queue_effort();
    v_start constant bigint := _queue_ticks();
    v_took bigint;
    v_first bigint;
begin
    moved := in_cursor;
    if v_lane = 0 then
        v_first := _queue_promote(in_kind, v_low, v_high, in_now - 1000000, in_max);
    else
        select array_agg(r.tid) into tids from (
            select q.ctid as tid from delayed_queue q
            where q.p_kind = in_kind and -q.priority::integer = in_cursor.ranks[v_lane]
                and q.ready_at between v_low and v_high
                and (q.ready_at, q.entry) < (in_cursor.places[v_lane], in_cursor.entries[v_lane])
                and q.scheduled_at <= in_now
            order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit in_max for update skip locked) r;
    end if;
    v_took := _queue_ticks() - v_start;
    moved.back_span := case when v_took < 2000 then least(in_cursor.back_span * 2, 1000000000000000)
        when v_took > 10000 then greatest(in_cursor.back_span / 2, 1000) else in_cursor.back_span end;
    moved.start_at := v_start + 50 * v_took;
    moved.back_took := in_cursor.back_took + _queue_effort() - v_effort;
    if tids is not null or v_first is not null then
        -- where one was, more may be: soon again here, and in between at the others
        moved.start_at := v_start + 2 * v_took;
        -- what has come due stands before the cursor now
        moved.marks_at := case when v_first is null then in_cursor.marks_at else 0 end;
    elsif v_low > 0 then
        moved.back_place := v_low - 1;
    else -- this lane is done; after the last one, what the whole round cost says whether a scan from the start is slow
        moved.back_place := 9223372036854775807;
        moved.back_span := 100000; -- the recent past is where there is much
        moved.back_lane := v_lane + 1;
        if moved.back_lane > cardinality(in_cursor.ranks) then
            moved.back_lane := 0;
            moved.took := moved.back_took;
            moved.back_took := 0;
            if moved.took <= 5000 then
                perform _queue_forget_cursors(in_kind, null::bigint);
            end if;
        end if;
    end if;
end $$;

comment on function _queue_look_back(text, bigint, integer, queue_cursor) is
$$One step of the look at what lies behind the cursor: a part of the timetable or of a lane, going back in time, as long
as takes 2 to 10 ms; the next step comes when it has been 2% of the time that passed. Steps are timed, so that they are
rarer where the machine is busy; what a round costs is counted, see _queue_effort.
in_kind: the kind. in_now: the time of the call. in_max: how many. in_cursor: the cursor.
Result: tids of ready messages that were found, locked; moved, the cursor as it is now.
Locks: those messages; what others have locked is left out.
differs: only here. InnoDB takes entries that died out of an index soon, so a look from the start costs less.$$;
