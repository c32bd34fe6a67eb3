-- calls: _queue_admit, _queue_admitted, _queue_check_count, _queue_check_name, _queue_check_options,
--     _queue_check_roles, _queue_check_writable, _queue_defaults, _queue_deliver, _queue_effort, _queue_fail,
--     _queue_keep_cursor, _queue_no_look_is_due, _queue_number, _queue_setting, _queue_ticks, _queue_upkeep,
--     _queue_use, _queue_where, queue_now
-- changes: delayed_queue, queue_hold
create or replace function queue_reserve(in_kind text, in_worker text default null,
    in_max_messages integer default null, in_options jsonb default null)
    returns table (p_kind text, p_key text, payload jsonb, payload_bytes bytea, headers jsonb,
        priority smallint, scheduled_at bigint, scheduled_at_initially bigint, created_at bigint, reserved_at bigint,
        attempts integer, reserved_by text, receipt text, errors jsonb) language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now(); v_ticks constant bigint := _queue_ticks();
    v_worker constant text := coalesce(in_worker, left(session_user, 180) || '/' || pg_backend_pid());
    v_seed constant bytea := uuid_send(gen_random_uuid()); -- one a call: it takes 4 µs
    v_name constant text := _queue_setting('cursor ' || in_kind);
    v_text constant text := current_setting(v_name, true);
    v_cursor queue_cursor := nullif(v_text, '')::queue_cursor; v_quiet constant boolean := v_cursor.ranks is null;
    v_left integer := coalesce(in_max_messages, 1);
    v_kind queue_kind; v_limited boolean; v_admission record;
    v_receipts text[] := '{}'; v_where jsonb;
    v_until bigint; v_entry bigint; v_place bigint; v_tid tid; v_effort bigint;
begin
    if (char_length(in_kind) between 1 and 100 and v_left between 1 and 10000
        and char_length(v_worker) between 1 and 200
        and current_setting('transaction_read_only') = 'off') is not true then
        perform _queue_check_writable();
        perform _queue_check_name(in_kind, 100, 'kind');
        perform _queue_check_count(v_left::bigint, 'max_messages', 10000::bigint);
        perform _queue_fail('PQ001', 'worker', v_worker, 'must have 1 to 200 characters');
    end if;
    select k.* into v_kind from queue_kind k where k.p_kind = in_kind;
    if not found then
        v_kind := _queue_defaults();
    end if;
    v_kind.p_kind := in_kind;
    if v_kind.roles is not null then
        perform _queue_check_roles(array[in_kind]);
    end if;
    v_until := v_now + v_kind.timeout_seconds * 1000000;
    if in_options is not null then
        perform _queue_check_options(in_options, '{timeout_seconds, where}'::text[], 'options');
        v_where := _queue_where(in_options);
        v_until := coalesce(v_now + _queue_number(in_options, 'timeout_seconds', 0.001, 31536000::numeric) * 1000000,
            v_until);
    end if;
    if v_kind.expires_seconds is not null then
        perform _queue_use(v_kind, v_now);
    end if;
    if v_kind.paused then
        return;
    elsif random() < 0.05 then
        perform _queue_upkeep(v_kind, v_now, 40 * v_left::bigint);
    end if;
    v_limited := coalesce(v_kind.max_reserved, v_kind.rate_per_second) is not null;
    if v_limited then
        v_admission := _queue_admit(v_kind, v_left, v_now);
        v_left := v_admission.allowed;
    end if;
    if v_left = 1 and v_where is null and v_kind.payload_shape is null
        and _queue_no_look_is_due(v_text, v_cursor, v_ticks) then
        -- most calls: one message that nobody had; what _queue_take does, in one statement
        v_effort := case when v_quiet then _queue_effort() end;
        update delayed_queue q
        set scheduled_at = v_until, reserved_at = v_now, attempts = q.attempts + 1, reserved_by = v_worker,
            secret = v_seed
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
            q.scheduled_at_initially, q.created_at, q.reserved_at, q.attempts, q.reserved_by,
            q.entry || '-' || encode(v_seed, 'hex'), q.errors, q.entry, q.ready_at, q.ctid
        into p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at, scheduled_at_initially,
            created_at, reserved_at, attempts, reserved_by, receipt, errors, v_entry, v_place, v_tid;
        if found then
            if v_cursor.took > 5000 and v_until < v_now + greatest(v_kind.timeout_seconds, 10) * 1000000 then
                insert into queue_hold (p_kind, until, entries) values (in_kind, v_until, array[v_entry]);
            end if;
            if not v_quiet then
                v_cursor.places[1] := v_place;
                v_cursor.entries[1] := v_entry;
                perform set_config(v_name, v_cursor::text, false);
            elsif v_cursor.p_kind is not null or _queue_effort() - v_effort > 11 then -- as in _queue_take
                perform _queue_keep_cursor(in_kind, v_name, v_cursor, 'start', v_ticks, _queue_effort() - v_effort, 1,
                    array[v_tid], v_now);
            end if;
            if v_limited then
                perform _queue_admitted(v_kind, v_admission.state, v_admission.slots, v_admission.numbers,
                    array[receipt], v_now);
            end if;
            return next;
            return;
        end if;
    end if;
    if not v_limited then
        for v_try in 1 .. case v_left when 1 then 0 else 3 end loop -- a savepoint is 5% of what one message costs
            begin
                return query select m.* from _queue_deliver(v_kind, v_left, v_now, v_until, v_worker, v_seed,
                    v_where) m;
                return;
            -- SKIP LOCKED waits where a row has just been updated and locked anew: again
            exception when deadlock_detected then
            end;
        end loop;
        return query select m.* from _queue_deliver(v_kind, v_left, v_now, v_until, v_worker, v_seed, v_where) m;
        return;
    end if;
    if v_left > 0 then
        for p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at, scheduled_at_initially, created_at,
            reserved_at, attempts, reserved_by, receipt, errors in
            select m.* from _queue_deliver(v_kind, v_left, v_now, v_until, v_worker, v_seed, v_where) m
        loop
            v_receipts := v_receipts || receipt;
            return next;
        end loop;
    end if;
    perform _queue_admitted(v_kind, v_admission.state, v_admission.slots, v_admission.numbers, v_receipts, v_now);
end $$;

comment on function queue_reserve(text, text, integer, jsonb) is
$$Takes ready messages of a kind. Nobody else gets them until their timeout has passed. If the consumer dies, the
messages come back by themselves.
in_kind: the kind.
in_worker: who takes them, 1 to 200 characters; NULL: login and connection.
in_max_messages: how many at the most, 1 to 10000; NULL: 1.
in_options: how to take them.
- timeout_seconds: how long the hold lasts. Allowed: 0.001 to 31536000 (a year). Default: timeout_seconds of the kind,
  300.
- where: takes only messages whose payload or headers contain this object, see _queue_where. Without filter_index of
  the kind the call reads the messages that stand before them. Allowed: an object of at most 16 values. Default: all
  messages.
Result: the columns of the message, times in microseconds. scheduled_at is the end of the hold. receipt names this
delivery and can't be guessed: queue_ack, queue_nack, queue_move and queue_extend want it. errors: see queue_get. No
row where nothing is ready or the kind is paused; fewer rows where max_reserved or rate_per_second of the kind allow
no more. Order: priority, then delivery time, then entry. Where several consumers reserve at once, that order is best
effort. High priorities can keep low ones waiting without an end. A message that names semaphores is taken with a permit
of each, or goes to wait in line, see queue_semaphore. A call waits for their rows where others are taking or giving
permits. A message becomes a dead letter here if its last delivery (max_attempts) has expired, or if its payload is not
of its kind (payload_shape).
Errors: PQ007 for a kind that is for others. PQ001 for kind, worker and max_messages, PQ002 for options.
Locks: the messages. The call passes over what others have locked, so no call waits for another, but for semaphores.
See _queue_take for the rest, and _queue_admit for what a kind with limits locks before.
Where the idea comes from: the visibility timeout of SQS; SELECT … FOR UPDATE SKIP LOCKED.$$;
