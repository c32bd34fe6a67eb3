create or replace function _queue_remember(in_kind text, in_name text, in_bounds bigint[], in_offset integer, in_start bigint,
    in_took bigint, in_max integer, in_tids tid[], in_now bigint) returns void language plpgsql as $$
declare
    v_known constant boolean := coalesce(cardinality(in_bounds) > 1, false);
    v_taken constant bigint := coalesce(in_bounds[1], 0) + coalesce(cardinality(in_tids), 0);
    v_bounds bigint[] := case when v_known then in_bounds else array[0, 0, in_start + 2000000, 0, in_now, in_now - 2000000,
        in_now - 2000000, 0, 9223372036854775807, 100000, 0, in_now] end;
    v_turns constant boolean := in_start >= v_bounds[3];
    v_slow constant boolean := in_took > 20 + in_max;
    v_lane integer := 13;
    v_rank bigint;
    v_last bigint;
    v_entry bigint;
    v_id bigint;
begin
    if in_offset is null then
        if not v_slow then
            perform set_config(in_name, '', false);
            perform _queue_forget_hints(in_kind, 9223372036854775807::bigint);
            return;
        elsif not v_known and v_taken < 64 and in_took < 20000
            and not exists (select from queue_hint h where h.p_kind = in_kind) then
            perform set_config(in_name, array[v_taken]::text, false);
            return;
        end if;
        v_bounds[1] := in_start + greatest(200 * in_took, 5000);
        v_bounds[4] := in_took;
    elsif in_offset = 2 then
        v_bounds[2] := in_start + least(greatest(400000, 30 * in_took), 800000);
    end if;
    v_bounds[5] := least((select d.due_at from delayed_queue d
        where d.p_kind = in_kind and d.due_at >= case when in_offset is null then 0 else v_bounds[5 + in_offset] end
        order by d.p_kind, d.due_at limit 1), in_now);
    v_bounds[6] := least(v_bounds[6], v_bounds[5]); -- a mark is never ahead of its bound
    v_bounds[7] := least(v_bounds[7], v_bounds[5]);
    for v_rank, v_last, v_entry in
        select -q.priority::integer, max(q.ready_at), (array_agg(q.entry order by q.ready_at desc, q.entry desc))[1]
        from unnest(in_tids) t (tid), lateral (select m.* from delayed_queue m where m.ctid = t.tid offset 0) q group by 1 order by 1
    loop
        while v_bounds[v_lane] < v_rank loop
            v_lane := v_lane + 7;
        end loop;
        if v_bounds[v_lane] = v_rank then
            v_bounds[v_lane + 1:v_lane + 2] := array[v_last, v_entry];
            for i in v_lane + 3 .. v_lane + 5 by 2 loop
                if (v_last, v_entry) < (v_bounds[i], v_bounds[i + 1]) then
                    v_bounds[i:i + 1] := array[v_last, v_entry];
                end if;
            end loop;
        elsif cardinality(v_bounds) < 12 + 7 * 32 then
            v_bounds := v_bounds[:v_lane - 1]
                || array[v_rank, v_last, v_entry, v_last - 2000000, 0, v_last - 2000000, 0] || v_bounds[v_lane:];
        end if;
    end loop;
    if v_turns then
        for i in 14 .. cardinality(v_bounds) by 7 loop
            v_bounds[i + 2:i + 5] := v_bounds[i:i + 3];
        end loop;
        v_bounds[7] := v_bounds[6];
        v_bounds[6] := v_bounds[5];
        v_bounds[3] := in_start + 2000000;
    end if;
    if (v_turns or not v_known) and in_tids is not null or v_bounds[4] > 5000 and (v_turns or in_offset = 2) then
        insert into queue_hint (p_kind, bounds) values (in_kind, v_bounds) returning id into v_id;
        perform _queue_forget_hints(in_kind, v_id - 100);
    end if;
    if cardinality(v_bounds) = 19 and v_bounds[4] > 5000 and (v_turns or not v_known or in_bounds[4] <= 5000) then
        insert into queue_hold (p_kind, until, entries, line)
        select in_kind, in_now + coalesce(max(k.timeout_seconds), 300) * 1000000, '{}', v_bounds[13:15]
        from queue_kind k where k.p_kind = in_kind;
    end if;
    perform set_config(in_name, v_bounds::text, false);
end $$;

comment on function _queue_remember(text, text, bigint[], integer, bigint, bigint, integer, tid[], bigint) is
$$Brings the bounds up to date after a scan, or forgets them where a scan from the start has become fast again.
in_kind: the kind. in_name: the setting that holds the bounds. in_bounds: as they were, see _queue_take. in_offset: where the
scan began, see _queue_scan. in_start: when, in microseconds of the real clock. in_took: how long it took, in microseconds.
in_max: how many were asked for. in_tids: what it found. in_now: the time of the call.
Locks: hints that are past their time; what others have locked is left.$$;
