-- calls: _queue_admit, _queue_admitted, _queue_advance, _queue_check_count, _queue_check_name, _queue_check_options,
--     _queue_check_roles, _queue_check_writable, _queue_defaults, _queue_deliver, _queue_effort, _queue_keep_cursor,
--     _queue_no_look_is_due, _queue_setting, _queue_ticks, _queue_upkeep, _queue_use, _queue_where, queue_now
-- changes: delayed_queue, queue_count
create or replace function queue_pop(in_kind text, in_max_messages integer default null, in_options jsonb default null)
    returns table (p_kind text, p_key text, payload jsonb, payload_bytes bytea, headers jsonb,
        priority smallint, scheduled_at bigint, scheduled_at_initially bigint, created_at bigint, reserved_at bigint,
        attempts integer, reserved_by text, errors jsonb)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now(); v_ticks constant bigint := _queue_ticks();
    v_name constant text := _queue_setting('cursor ' || in_kind);
    v_text constant text := current_setting(v_name, true);
    v_cursor queue_cursor := nullif(v_text, '')::queue_cursor; v_quiet constant boolean := v_cursor.ranks is null;
    v_left integer := coalesce(in_max_messages, 1); v_rows integer := 0;
    v_kind queue_kind; v_admission record; v_where jsonb;
    v_pushed integer; v_order text;
    v_entry bigint; v_place bigint; v_effort bigint;
begin
    if (char_length(in_kind) between 1 and 100 and v_left between 1 and 10000
        and current_setting('transaction_read_only') = 'off') is not true then
        perform _queue_check_writable();
        perform _queue_check_name(in_kind, 100, 'kind');
        perform _queue_check_count(v_left::bigint, 'max_messages', 10000::bigint);
    elsif in_options is not null then
        perform _queue_check_options(in_options, '{where}'::text[], 'options');
        v_where := _queue_where(in_options);
    end if;
    select k.* into v_kind from queue_kind k where k.p_kind = in_kind;
    if not found then
        v_kind := _queue_defaults();
        v_kind.p_kind := in_kind;
    end if;
    if v_kind.roles is not null then
        perform _queue_check_roles(array[in_kind]);
    end if;
    if v_kind.expires_seconds is not null then
        perform _queue_use(v_kind, v_now);
    end if;
    if v_kind.paused then
        return;
    elsif random() < 0.05 then
        perform _queue_upkeep(v_kind, v_now, 40 * v_left::bigint);
    end if;
    if v_kind.rate_per_second is not null then
        v_kind.max_reserved := null; -- nothing is held
        v_admission := _queue_admit(v_kind, v_left, v_now);
        v_left := v_admission.allowed;
    end if;
    if v_left = 1 and v_kind.rate_per_second is null and v_where is null and v_kind.payload_shape is null
        and (v_kind.history_seconds > 0 or v_kind.dedup_seconds > 0 or v_kind.log_seconds > 0) is not true
        and (not v_quiet or coalesce(v_cursor.slow_taken, 0) < 63)
        and _queue_no_look_is_due(v_text, v_cursor, v_ticks) then
        -- as in queue_reserve
        v_effort := case when v_quiet then _queue_effort() end;
        delete from delayed_queue q
        where q.pending is null and q.semaphores is null and q.reserved_at is null
            and q.attempts < coalesce(q.max_attempts, v_kind.max_attempts, 2147483647) and q.ctid = (
            select l.ctid from delayed_queue l
            where l.p_kind = in_kind and l.ready_at is not null and l.scheduled_at <= v_now
                and (v_quiet or l.reserved_at is null)
                and (-l.priority::integer, l.ready_at, l.entry) >= (coalesce(v_cursor.ranks[1], -2147483648),
                    coalesce(v_cursor.places[1], 0), coalesce(v_cursor.entries[1], 0))
                and -l.priority::integer <= coalesce(v_cursor.ranks[1], 2147483647)
                and not exists (select from delayed_queue d where d.p_kind = in_kind
                    and d.due_at between coalesce(v_cursor.due, 0) and v_now)
                and not exists (
                    select from delayed_queue h where h.p_kind = in_kind and h.ready_at is not null
                        and -h.priority::integer < v_cursor.ranks[1] and h.scheduled_at <= v_now)
            order by l.p_kind, -l.priority::integer, l.ready_at, l.entry limit 1 for update skip locked)
        returning q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
            q.scheduled_at_initially, q.created_at, v_now, q.attempts + 1, null::text, q.errors,
            (q.source_kind is null)::integer, q.entry, q.ready_at, q.order_key
        into p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at, scheduled_at_initially,
            created_at, reserved_at, attempts, reserved_by, errors, v_pushed, v_entry, v_place, v_order;
        if found then
            insert into queue_count (p_kind, pushed, popped) values (in_kind, v_pushed, 1);
            if v_order is not null then
                perform _queue_advance(array[in_kind], array[v_order], v_now, null::bigint[]);
            end if;
            if not v_quiet then
                v_cursor.places[1] := v_place;
                v_cursor.entries[1] := v_entry;
                perform set_config(v_name, v_cursor::text, false);
            elsif _queue_effort() - v_effort > 11 then
                -- a whole cursor is made by _queue_take, out of what is still there
                v_cursor.p_kind := in_kind;
                v_cursor.slow_taken := case when _queue_effort() - v_effort < 20000
                    then coalesce(v_cursor.slow_taken, 0) + 1 else 64 end;
                perform set_config(v_name, v_cursor::text, false);
            elsif v_cursor.p_kind is not null then
                perform _queue_keep_cursor(in_kind, v_name, v_cursor, 'start', v_ticks, 0::bigint, 1, null::tid[],
                    v_now);
            end if;
            return next;
            return;
        end if;
    end if;
    -- as in queue_reserve
    for v_try in 1 .. case when v_left > 1 and v_kind.rate_per_second is null then 3 else 0 end loop
        begin
            return query
                select m.p_kind, m.p_key, m.payload, m.payload_bytes, m.headers, m.priority, m.scheduled_at,
                    m.scheduled_at_initially, m.created_at, m.reserved_at, m.attempts, m.reserved_by, m.errors
                from _queue_deliver(v_kind, v_left, v_now, null::bigint, null::text, null::bytea, v_where) m;
            return;
        exception when deadlock_detected then
        end;
    end loop;
    if v_left > 0 then
        return query
            select m.p_kind, m.p_key, m.payload, m.payload_bytes, m.headers, m.priority, m.scheduled_at,
                m.scheduled_at_initially, m.created_at, m.reserved_at, m.attempts, m.reserved_by, m.errors
            from _queue_deliver(v_kind, v_left, v_now, null::bigint, null::text, null::bytea, v_where) m;
        get diagnostics v_rows = row_count;
    end if;
    if v_kind.rate_per_second is not null then
        perform _queue_admitted(v_kind, v_admission.state, null::integer[], null::bigint[],
            array_fill(null::text, array[v_rows]), v_now);
    end if;
end $$;

comment on function queue_pop(text, integer, jsonb) is
$$Takes ready messages of a kind and removes them. They are delivered at most once: there is no way back.
in_kind: the kind.
in_max_messages: how many at the most, 1 to 10000; NULL: 1.
in_options: which ones.
- where: takes only messages that contain this object, as in queue_reserve. Allowed: an object of at most 16 values.
  Default: all messages.
Result: the columns of each message as it was, and errors (see queue_get), times in microseconds; reserved_at and
attempts are of this delivery. Order, paused kinds and rate_per_second as in queue_reserve. max_reserved doesn't
matter, since nothing is held. A message that names semaphores is taken only where there is a permit of each, which it
has until the transaction ends; what follows is not counted.
Errors: PQ007 for a kind that is for others. PQ001 for kind and max_messages, PQ002 for options.
Locks: as queue_reserve; with rate_per_second as _queue_admit before the messages.$$;
