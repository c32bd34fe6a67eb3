create or replace function queue_reserve(in_kind text, in_worker text default null, in_max_messages integer default null,
    in_options jsonb default null)
    returns table (p_kind text, p_key text, payload jsonb, payload_bytes bytea, headers jsonb,
        priority smallint, scheduled_at bigint, scheduled_at_initially bigint, created_at bigint, reserved_at bigint,
        attempts integer, reserved_by text, receipt text, errors jsonb) language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
    v_now constant bigint := queue_now();
    v_ticks constant bigint := _queue_ticks();
    v_worker constant text := coalesce(in_worker, left(session_user, 180) || '/' || pg_backend_pid());
    v_seed constant bytea := uuid_send(gen_random_uuid()); -- one a call: it takes 4 µs
    v_name text := _queue_bounds_name(in_kind);
    v_bounds constant bigint[] := nullif(current_setting(v_name, true), '')::bigint[];
    v_left constant integer := coalesce(in_max_messages, 1);
    v_kind queue_kind;
    v_until bigint; v_entry bigint; v_place bigint;
    v_where jsonb;
begin
    if (char_length(in_kind) between 1 and 100 and v_left between 1 and 10000 and char_length(v_worker) between 1 and 200
        and current_setting('transaction_read_only') = 'off') is not true then
        perform _queue_check_writable();
        perform _queue_check_kind(in_kind, 100, 'kind');
        perform _queue_check_count(v_left::bigint, 'max_messages', 10000::bigint);
        perform _queue_fail('PQ001', 'worker', v_worker, 'must have 1 to 200 characters');
    end if;
    select k.* into v_kind from queue_kind k where k.p_kind = in_kind;
    if not found then
        v_kind := _queue_defaults();
    end if;
    v_kind.p_kind := in_kind;
    v_until := v_now + v_kind.timeout_seconds * 1000000;
    if in_options is not null then
        perform _queue_check_options(in_options, '{timeout_seconds, where}'::text[], 'options');
        v_where := _queue_where(in_options);
        v_until := coalesce(v_now + _queue_number(in_options, 'timeout_seconds', 0.001, 31536000::numeric) * 1000000, v_until);
    end if;
    if v_kind.expires_seconds is not null then
        perform _queue_use(v_kind, v_now);
    end if;
    if v_kind.paused then
        return;
    elsif random() < 0.05 then
        perform _queue_tidy(v_kind, v_now, 40 * v_left::bigint);
    end if;
    if coalesce(v_kind.max_reserved, v_kind.rate_per_second) is not null then
        return query select m.* from _queue_reserve_limited(v_kind, v_left, v_now, v_until, v_worker, v_seed, v_where) m;
        return;
    end if;
    if v_left = 1 and v_where is null and cardinality(v_bounds) = 19 and v_kind.payload_shape is null and v_bounds[3] <= v_ticks + 4000000
        and v_ticks < least(v_bounds[2], v_bounds[3]) and v_ticks < v_bounds[1] + (case when v_bounds[4] <= 5000 and random() < 0.95 then 1000000 else 0 end) then
        -- most calls: one message that nobody had, from the bounds on, with no other look due; what _queue_take does, in one statement
        update delayed_queue q
        set scheduled_at = v_until, reserved_at = v_now, attempts = q.attempts + 1, reserved_by = v_worker, secret = v_seed
        where q.pending is null and q.semaphores is null and q.attempts < coalesce(q.max_attempts, v_kind.max_attempts, 2147483647) and q.ctid = (
            select l.ctid from delayed_queue l
            where l.p_kind = in_kind and l.ready_at is not null and l.scheduled_at <= v_now and l.reserved_at is null
                and (-l.priority::integer, l.ready_at, l.entry) >= (v_bounds[13], v_bounds[14], v_bounds[15])
                and not exists (select from delayed_queue d where d.p_kind = in_kind and d.due_at between v_bounds[5] and v_now)
                and not exists (
                    select from delayed_queue h where h.p_kind = in_kind and h.ready_at is not null
                        and -h.priority::integer < v_bounds[13] and h.scheduled_at <= v_now)
            order by l.p_kind, -l.priority::integer, l.ready_at, l.entry limit 1 for update skip locked)
        returning q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at, q.scheduled_at_initially,
            q.created_at, q.reserved_at, q.attempts, q.reserved_by, q.entry || '-' || encode(v_seed, 'hex'), q.errors, q.entry, q.ready_at
        into p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at, scheduled_at_initially,
            created_at, reserved_at, attempts, reserved_by, receipt, errors, v_entry, v_place;
        if found then
            if v_bounds[4] > 5000 and v_until < v_now + greatest(v_kind.timeout_seconds, 10) * 1000000 then
                insert into queue_hold (p_kind, until, entries) values (in_kind, v_until, array[v_entry]);
            end if;
            v_name := set_config(v_name, (case when priority = -v_bounds[13]
                then v_bounds[:13] || v_place || v_entry || v_bounds[16:]
                else v_bounds[:1] || 0::bigint || v_bounds[3:] end)::text, false); -- no more of it: let _queue_take look
            return next;
            return;
        end if;
    end if;
    return query select m.* from _queue_reserve_some(v_kind, v_left, v_now, v_until, v_worker, v_seed, v_where) m;
end $$;

comment on function queue_reserve(text, text, integer, jsonb) is
$$Takes ready messages of a kind, invisible to others until the timeout; who dies gives them back by doing nothing.
in_kind: the kind. in_worker: who takes them, 1 to 200 characters; NULL: login and connection. in_max_messages: how many at
the most, 1 to 10000, NULL: 1. in_options: timeout_seconds (0.001 to a year; default that of the kind, 300); where (a JSON
object, at most 16 values): only messages whose payload or headers contain it, see _queue_where. Without filter_index of the kind
that reads what stands before them.
Result: the columns of the message, times in microseconds, scheduled_at being the end of the hold; and receipt, which names
this delivery and can't be guessed: what queue_ack, queue_nack, queue_move and queue_extend want; and errors, see queue_get. No row where nothing is
ready or the kind is paused, and fewer where its max_reserved or rate_per_second allow no more. Order: priority, then delivery time, then entry; best effort where several reserve at once.
Strict priority can starve what is low.
A message that names semaphores is taken with a slot of each, or goes to wait in line, see queue_semaphore. A call waits for their
rows where others are taking or giving slots.
A message whose last delivery (max_attempts) has expired, or whose payload is not of its kind (payload_shape), becomes a dead
letter here.
Errors: PQ001 for kind, worker and max_messages, PQ002 for options.
Locks: the messages; what others have locked is passed over, so no call waits for another, but for semaphores. See _queue_take for the rest.
Where the idea comes from: the visibility timeout of SQS; SELECT … FOR UPDATE SKIP LOCKED.$$;
