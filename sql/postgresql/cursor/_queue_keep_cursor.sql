-- calls: _queue_forget_cursors
-- changes: queue_cursor, queue_hold
create or replace function _queue_keep_cursor(in_kind text, in_name text, in_cursor queue_cursor, in_from text,
    in_start bigint, in_took bigint, in_max integer, in_tids tid[], in_now bigint) returns void language plpgsql as $$
declare
    v_known constant boolean := in_cursor.ranks is not null;
    v_cursor queue_cursor := in_cursor;
    v_turns constant boolean := coalesce(v_known and in_start >= in_cursor.turn_at, false);
    v_lane integer := 1;
    v_rank bigint;
    v_last bigint;
    v_entry bigint;
    v_id bigint;
begin
    if in_from = 'start' and in_took <= 10 + in_max then
        perform set_config(in_name, '', false);
        perform _queue_forget_cursors(in_kind, null::bigint);
        return;
    end if;
    if not v_known then
        v_cursor.p_kind := in_kind;
        v_cursor.slow_taken := coalesce(in_cursor.slow_taken, 0) + coalesce(cardinality(in_tids), 0);
        if in_from = 'start' and v_cursor.slow_taken < 64 and in_took < 20000
            and not exists (select from queue_cursor c where c.p_kind = in_kind) then
            perform set_config(in_name, v_cursor::text, false);
            return;
        end if;
        v_cursor.start_at := 0;
        v_cursor.marks_at := 0;
        v_cursor.turn_at := in_start + 2000000;
        v_cursor.took := 0;
        v_cursor.due := in_now;
        v_cursor.due_newer := in_now - 2000000;
        v_cursor.due_older := in_now - 2000000;
        v_cursor.back_lane := 0;
        v_cursor.back_place := 9223372036854775807;
        v_cursor.back_span := 100000;
        v_cursor.back_took := 0;
        v_cursor.hold_from := in_now;
        v_cursor.ranks := '{}';
        v_cursor.places := '{}';
        v_cursor.entries := '{}';
        v_cursor.newer_places := '{}';
        v_cursor.newer_entries := '{}';
        v_cursor.older_places := '{}';
        v_cursor.older_entries := '{}';
    end if;
    if in_from = 'start' then
        v_cursor.start_at := in_start + greatest(200 * in_took, 5000);
        v_cursor.took := in_took;
    elsif in_from = 'marks' then
        v_cursor.marks_at := in_start + least(greatest(400000, 30 * in_took), 800000);
    end if;
    v_cursor.due := least((
        select d.due_at from delayed_queue d
        where d.p_kind = in_kind
            and d.due_at >= case in_from when 'start' then 0 when 'marks' then v_cursor.due_older else v_cursor.due end
        order by d.p_kind, d.due_at limit 1), in_now);
    v_cursor.due_newer := least(v_cursor.due_newer, v_cursor.due); -- a mark is never ahead of its place
    v_cursor.due_older := least(v_cursor.due_older, v_cursor.due);
    for v_rank, v_last, v_entry in
        select -q.priority::integer, max(q.ready_at), (array_agg(q.entry order by q.ready_at desc, q.entry desc))[1]
        from unnest(in_tids) t (tid), lateral (select m.* from delayed_queue m where m.ctid = t.tid offset 0) q
            group by 1 order by 1
    loop
        while v_cursor.ranks[v_lane] < v_rank loop
            v_lane := v_lane + 1;
        end loop;
        if v_cursor.ranks[v_lane] = v_rank then
            v_cursor.places[v_lane] := v_last;
            v_cursor.entries[v_lane] := v_entry;
            if (v_last, v_entry) < (v_cursor.newer_places[v_lane], v_cursor.newer_entries[v_lane]) then
                v_cursor.newer_places[v_lane] := v_last;
                v_cursor.newer_entries[v_lane] := v_entry;
            end if;
            if (v_last, v_entry) < (v_cursor.older_places[v_lane], v_cursor.older_entries[v_lane]) then
                v_cursor.older_places[v_lane] := v_last;
                v_cursor.older_entries[v_lane] := v_entry;
            end if;
        elsif cardinality(v_cursor.ranks) < 32 then
            v_cursor.ranks := v_cursor.ranks[:v_lane - 1] || v_rank || v_cursor.ranks[v_lane:];
            v_cursor.places := v_cursor.places[:v_lane - 1] || v_last || v_cursor.places[v_lane:];
            v_cursor.entries := v_cursor.entries[:v_lane - 1] || v_entry || v_cursor.entries[v_lane:];
            v_last := v_last - 2000000;
            v_cursor.newer_places := v_cursor.newer_places[:v_lane - 1] || v_last || v_cursor.newer_places[v_lane:];
            v_cursor.newer_entries := v_cursor.newer_entries[:v_lane - 1] || 0::bigint ||
                v_cursor.newer_entries[v_lane:];
            v_cursor.older_places := v_cursor.older_places[:v_lane - 1] || v_last || v_cursor.older_places[v_lane:];
            v_cursor.older_entries := v_cursor.older_entries[:v_lane - 1] || 0::bigint ||
                v_cursor.older_entries[v_lane:];
        end if;
    end loop;
    if v_turns then
        v_cursor.due_older := v_cursor.due_newer;
        v_cursor.due_newer := v_cursor.due;
        v_cursor.older_places := v_cursor.newer_places;
        v_cursor.older_entries := v_cursor.newer_entries;
        v_cursor.newer_places := v_cursor.places;
        v_cursor.newer_entries := v_cursor.entries;
        v_cursor.turn_at := in_start + 2000000;
    end if;
    if (v_turns or not v_known) and in_tids is not null or v_cursor.took > 5000 and (v_turns or in_from = 'marks') then
        insert into queue_cursor overriding user value select (v_cursor).* returning id into v_id;
        perform _queue_forget_cursors(in_kind, v_id - 100);
    end if;
    if cardinality(v_cursor.ranks) = 1 and v_cursor.took > 5000
        and (v_turns or not v_known or in_cursor.took <= 5000) then
        insert into queue_hold (p_kind, until, entries, line)
        select in_kind, in_now + coalesce(max(k.timeout_seconds), 300) * 1000000, '{}',
            v_cursor.ranks || v_cursor.places || v_cursor.entries
        from queue_kind k where k.p_kind = in_kind;
    end if;
    perform set_config(in_name, v_cursor::text, false);
end $$;

comment on function _queue_keep_cursor(text, text, queue_cursor, text, bigint, bigint, integer, tid[], bigint) is
$$Brings the cursor of a session up to date after a scan, or forgets it where a scan from the start has become fast
again.
in_kind: the kind. in_name: the setting that holds the cursor. in_cursor: as it was. in_from: where the scan began, see
_queue_scan. in_start: when, in microseconds of the real clock. in_took: what it cost, see _queue_effort. in_max: how
many were asked for. in_tids: what it found. in_now: the time of the call.
Locks: shared cursors that are past their time; what others have locked is left.$$;
