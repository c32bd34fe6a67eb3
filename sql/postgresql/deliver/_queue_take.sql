-- calls: _queue_effort, _queue_find_expired, _queue_keep_cursor, _queue_look_back, _queue_promote, _queue_scan,
--     _queue_setting, _queue_shared_cursor, _queue_ticks
create or replace function _queue_take(in_kind text, in_max integer, in_now bigint, in_most integer, out tids tid[],
    out expired bigint, out ends bigint, out slow boolean) language plpgsql as $$
declare
    v_name constant text := _queue_setting('cursor ' || in_kind);
    v_text constant text := current_setting(v_name, true);
    v_cursor queue_cursor := nullif(v_text, '')::queue_cursor;
    v_from text := 'start';
    v_start constant bigint := _queue_ticks();
    v_effort bigint := _queue_effort();
    v_found bigint; v_took bigint;
    v_low bigint; v_first bigint; v_last bigint; v_entry bigint;
    v_back record;
begin
    if v_text is null then
        v_cursor := _queue_shared_cursor(in_kind, in_now);
        if v_cursor.p_kind is not null and random() < 0.95 then
            v_cursor.marks_at := v_start + 1000000; -- many that come new needn't all look from the marks at once
        end if;
        perform set_config(v_name, case when v_cursor.p_kind is null then '' else v_cursor::text end, false);
    end if;
    if v_cursor.turn_at > v_start + 4000000 or greatest(v_cursor.start_at, v_cursor.marks_at) > v_start + 3600000000
        then
        v_cursor := null; -- the clock was set back: it is of the future
    end if;
    slow := coalesce(v_cursor.took > 5000, false);
    if slow and v_start >= v_cursor.marks_at then -- one look from the marks is enough for all sessions
        v_cursor.marks_at := greatest(v_cursor.marks_at, (
            select least(c.marks_at, v_start + 1000000) from queue_cursor c where c.p_kind = in_kind
                order by c.id desc limit 1));
    end if;
    if slow or v_start < v_cursor.start_at + (case when random() < 0.9 then 1000000 else 0 end) then
        v_from := case when v_start < v_cursor.marks_at then 'cursor' else 'marks' end;
    end if;
    if slow and (v_from = 'marks' or v_start >= v_cursor.start_at) then
        -- what the scan from the cursor can't see: holds that have expired, and a step of the look back
        if v_start >= v_cursor.marks_at then
            select f.tids, f.low into tids, v_cursor.hold_from
                from _queue_find_expired(in_kind, v_cursor.hold_from, in_now, in_max) f;
        end if;
        if tids is null and v_start >= v_cursor.start_at then
            v_back := _queue_look_back(in_kind, in_now, in_max, v_cursor);
            tids := v_back.tids;
            v_cursor := v_back.moved;
        end if;
        perform set_config(v_name, v_cursor::text, false);
        if tids is not null then
            return;
        end if;
        v_effort := _queue_effort();
    end if;
    loop
        v_low := case v_from when 'start' then 0 when 'marks' then v_cursor.due_older else v_cursor.due end;
        if exists (select from delayed_queue d where d.p_kind = in_kind and d.due_at between v_low and in_now) then
            v_found := _queue_effort();
            v_first := _queue_promote(in_kind, v_low, in_now, case when slow then in_now - 1000000 else 0 end, in_max);
            for i in 1 .. case when slow or v_from = 'start' then 0 else cardinality(v_cursor.ranks) end loop
                if v_first <= v_cursor.places[i] then
                    v_cursor.places[i] := v_first;
                    v_cursor.entries[i] := 0;
                end if;
                if v_first <= v_cursor.newer_places[i] then
                    v_cursor.newer_places[i] := v_first;
                    v_cursor.newer_entries[i] := 0;
                end if;
                if v_first <= v_cursor.older_places[i] then
                    v_cursor.older_places[i] := v_first;
                    v_cursor.older_entries[i] := 0;
                end if;
            end loop;
            v_effort := v_effort + _queue_effort() - v_found;
        end if;
        select s.tids, s.expired, s.ends, s.last, s.last_entry into tids, expired, ends, v_last, v_entry
        from _queue_scan(in_kind, in_now, in_max, in_most, v_cursor, v_from, v_first) s;
        v_took := _queue_effort() - v_effort;
        exit when tids is not null or v_from = 'start' or slow;
        v_from := 'start'; -- nothing there: look from the start, unless that is known to be slow
        v_effort := _queue_effort();
    end loop;
    if v_from = 'start' and (v_cursor.p_kind is not null or v_took > 10 + in_max)
        or v_start >= least(v_cursor.marks_at, v_cursor.turn_at) or v_took > 60 + 3 * in_max and v_last is null then
        perform _queue_keep_cursor(in_kind, v_name, v_cursor, v_from, v_start, v_took, in_max, tids, in_now);
    elsif v_last >= v_cursor.places[1] then -- the common case of the same
        v_cursor.places[1] := v_last;
        v_cursor.entries[1] := v_entry;
        perform set_config(v_name, v_cursor::text, false);
    elsif v_first is not null and v_from <> 'start' then
        perform set_config(v_name, v_cursor::text, false);
    end if;
end $$;

comment on function _queue_take(text, integer, bigint, integer) is
$$The next messages of a kind, in the order of delivery, locked: the one way in which a message is taken.
in_kind: the kind. in_max: how many. in_now: the time of the call. in_most: how many deliveries a message of the kind
may have.
Result: tids, expired and ends, see _queue_scan, the last two NULL where nobody has counted; slow, whether a scan from
the start is, so that the ends of holds have to be noted in queue_hold.
Locks: the messages, and as many (20 at the least) that have come due; what others have locked is passed over.

Where entries that died lie before the living ones, because nobody cleaned them away yet or an open snapshot forbids it,
a scan from the start gets slow. So each session keeps a cursor, in a setting of its own, and scans from where it last
found something. It looks again from the older marks, where the cursor was 2 to 4 s ago, every 0.4 to 0.8 s, so that
what was committed late is found; and from the start after 200 times what that costs (_queue_effort), 5 ms at the least,
or up to 1 s later, since a session that calls seldom would do so in each call. Where one costs over 5 ms, expired
holds are found by the notes in queue_hold, what is further back is looked through in small steps, 2% of the time, and
sessions share the looks from the marks by way of queue_cursor. While no session took 64 messages by slow scans, and
where they are fast, none keeps a cursor, and the order is exact; with one a message that is pushed with a time in the
past may come a second late.
A cursor is whole once 64 messages were taken by slow scans, where another session has one, or after a scan that cost
over 20 ms. Its fields are the columns of queue_cursor.$$;
