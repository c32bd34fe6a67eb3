create or replace function _queue_take(in_kind text, in_max integer, in_now bigint, out tids tid[], out expired bigint,
    out slow boolean) language plpgsql as $$
declare
    v_name constant text := _queue_bounds_name(in_kind);
    v_text constant text := current_setting(v_name, true);
    v_bounds bigint[] := nullif(v_text, '')::bigint[];
    v_start bigint := _queue_ticks();
    v_found bigint;
    v_took bigint;
    v_offset integer;
    v_low bigint;
    v_first bigint;
    v_last bigint;
    v_entry bigint;
begin
    if v_text is null then
        v_bounds := _queue_read_hint(in_kind, in_now);
        if v_bounds is not null and random() < 0.95 then
            v_bounds[2] := v_start + 1000000; -- many that come new needn't all look from the marks at once
        end if;
        perform set_config(v_name, coalesce(v_bounds::text, ''), false);
    end if;
    if v_bounds[3] > v_start + 4000000 or v_bounds[1] > v_start + 3600000000 or v_bounds[2] > v_start + 3600000000 then
        v_bounds := null; -- the clock was set back: they are of the future
    end if;
    slow := coalesce(v_bounds[4] > 5000, false);
    if slow and v_start >= v_bounds[2] then -- one look from the marks is enough for all sessions
        v_bounds[2] := greatest(v_bounds[2], (
            select least(h.bounds[2], v_start + 1000000) from queue_hint h where h.p_kind = in_kind order by h.id desc limit 1));
    end if;
    if slow or v_start < v_bounds[1] + (case when random() < 0.9 then 1000000 else 0 end) then
        v_offset := case when v_start < v_bounds[2] then 0 else 2 end;
    end if;
    if slow and (v_offset = 2 or v_start >= v_bounds[1]) then
        select b.tids, b.expired, b.bounds into tids, expired, v_bounds
        from _queue_look_aside(in_kind, in_now, in_max, v_start, v_bounds) b;
        perform set_config(v_name, v_bounds::text, false);
        if tids is not null then
            return;
        end if;
        v_start := _queue_ticks();
    end if;
    loop
        v_low := coalesce(v_bounds[5 + v_offset], 0);
        if exists (select from delayed_queue d where d.p_kind = in_kind and d.due_at between v_low and in_now) then
            v_found := _queue_ticks();
            v_first := _queue_promote(in_kind, v_low, in_now, case when slow then in_now - 1000000 else 0 end, in_max);
            for i in 14 .. case when slow or v_offset is null then 0 else cardinality(v_bounds) end by 7 loop
                for v_place in i .. i + 4 by 2 loop
                    if v_first <= v_bounds[v_place] then
                        v_bounds[v_place:v_place + 1] := array[v_first, 0];
                    end if;
                end loop;
            end loop;
            v_start := v_start + _queue_ticks() - v_found;
        end if;
        select s.tids, s.expired, s.last, s.last_entry into tids, expired, v_last, v_entry
        from _queue_scan(in_kind, in_now, in_max, v_bounds, v_offset, v_first) s;
        v_took := _queue_ticks() - v_start;
        exit when tids is not null or v_offset is null or slow;
        v_offset := null; -- nothing there: look from the start, unless that is known to be slow
        v_start := _queue_ticks();
    end loop;
    if v_text is null and v_took < 20000 then
        null; -- the first call of a session is slow for other reasons
    elsif v_offset is null and (v_bounds is not null or v_took > 20 + in_max)
        or v_start >= least(v_bounds[2], v_bounds[3]) or v_took > 60 + 3 * in_max and v_last is null then
        perform _queue_remember(in_kind, v_name, v_bounds, v_offset, v_start, v_took, in_max, tids, in_now);
    elsif v_last >= v_bounds[14] then -- the common case of the same
        v_bounds[14:15] := array[v_last, v_entry];
        perform set_config(v_name, v_bounds::text, false);
    elsif v_first is not null and v_offset is not null then
        perform set_config(v_name, v_bounds::text, false);
    end if;
end $$;

comment on function _queue_take(text, integer, bigint) is
$$The next messages of a kind, in the order of delivery, locked: the one way in which a message is taken.
in_kind: the kind. in_max: how many. in_now: the time of the call.
Result: tids, row identifiers (NULL for none); expired, how many of them are expired holds; slow, whether a scan from the
start is, so that the ends of holds have to be noted in queue_hold.
Locks: the messages, and as many (20 at the least) that have come due; what others have locked is passed over.

Where entries that died lie before the living ones, because nobody cleaned them away yet or an open snapshot forbids it, a scan
from the start gets slow. So each session keeps bounds, in a setting of its own, and scans from where it last found something. It
looks again from the older marks, where the bounds were 2 to 4 s ago, every 0.4 to 0.8 s, so that what was committed late is found; and
from the start after 200 times what that takes, 5 ms at the least, or up to 1 s later, since a session that calls seldom would do
so in each call. Where a look from the start takes over 5 ms, expired holds are found by the notes in queue_hold, what is further
back is looked through in small steps, 2% of the time, and sessions share the looks from the marks by way of queue_hint. While
no session took 64 messages by slow scans, and where they are fast, none keeps any, and the order is exact; with bounds a
message that is pushed with a time in the past may come a second late.
bounds (none; {n}: n messages taken by slow scans; whole from 64 on, where another has them, or after a scan of over 20 ms): 1
when the next look from the start or behind the bounds may come, 2 when one from the marks, 3 when the marks move on; 4 what the
last scan from the start took; 5 to 7 bound, newer and older mark of the timetable; 8 to 11 the look back: its lane, its place,
its span and what its round has taken; 12 bound of queue_hold; then rank (the priority, negated), bound, newer and older mark of
each lane, each of the three a place and an entry, lanes in order. Times are microseconds, in 1 to 3 those of the real clock.$$;
