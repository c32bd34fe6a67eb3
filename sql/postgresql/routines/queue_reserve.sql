create or replace function queue_reserve(in_kind text, in_worker text default null, in_max_messages integer default null,
    in_options jsonb default null)
    returns table (p_kind text, p_key text, payload jsonb, payload_bytes bytea, headers jsonb,
        priority smallint, scheduled_at bigint, scheduled_at_initially bigint, created_at bigint, reserved_at bigint,
        attempts integer, reserved_by text, receipt text)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
    v_now constant bigint := queue_now();
    v_left integer := coalesce(in_max_messages, 1);
    v_worker constant text := coalesce(in_worker, left(session_user, 180) || '/' || pg_backend_pid());
    v_seed constant bytea := uuid_send(gen_random_uuid()); -- one a call: it takes 4 µs
    v_kind queue_kind;
    v_until bigint;
    v_take record;
    v_rows integer;
begin
    perform _queue_check_kind(in_kind, 100);
    perform _queue_check_count(v_left, 'max_messages', 10000);
    if char_length(v_worker) not between 1 and 200 then
        perform _queue_fail('PQ001', 'worker', v_worker, 'must have 1 to 200 characters');
    end if;
    v_kind := _queue_settings(in_kind);
    v_until := v_now + v_kind.timeout_seconds * 1000000;
    if in_options is not null then
        perform _queue_check_options(in_options, '{timeout_seconds}');
        v_until := v_now + coalesce(_queue_number(in_options, 'timeout_seconds', 0.001, 31536000), v_kind.timeout_seconds) * 1000000;
    end if;
    if v_kind.paused then
        return;
    end if;
    loop
        v_take := _queue_take(in_kind, v_left, v_now);
        exit when v_take.tids is null;
        if v_take.slow then
            insert into queue_hold (p_kind, until, entries)
            select in_kind, v_until, array_agg(q.entry) from delayed_queue q where q.ctid = any (v_take.tids);
        end if;
        return query
            with u as (
                update delayed_queue q
                set scheduled_at = v_until, reserved_at = v_now, attempts = q.attempts + 1, reserved_by = v_worker,
                    secret = substr(sha256(v_seed || int8send(q.entry)), 1, 16)
                where q.ctid = any (v_take.tids) and q.pending is null
                    and q.attempts < coalesce(q.max_attempts, v_kind.max_attempts, 2147483647)
                    and (v_kind.payload_shape is null or _queue_misfit(v_kind.payload_shape, q.payload) is null)
                returning q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
                    q.scheduled_at_initially, q.created_at, q.reserved_at, q.attempts, q.reserved_by, q.entry, q.secret,
                    q.ready_at)
            select u.p_kind, u.p_key, u.payload, u.payload_bytes, u.headers, u.priority, u.scheduled_at,
                u.scheduled_at_initially, u.created_at, u.reserved_at, u.attempts, u.reserved_by,
                u.entry || '-' || encode(u.secret, 'hex')
            from u order by -u.priority::integer, u.ready_at, u.entry;
        get diagnostics v_rows = row_count;
        insert into queue_count (p_kind, reserved, expired) values (in_kind, v_rows, nullif(v_take.expired, 0));
        exit when v_rows = cardinality(v_take.tids);
        perform _queue_end_expired(v_take.tids, v_now);
        v_left := v_left - v_rows;
        exit when v_left = 0;
    end loop;
    perform _queue_tidy(v_kind, v_now, 40 * coalesce(in_max_messages, 1));
end $$;

comment on function queue_reserve(text, text, integer, jsonb) is
$$Takes ready messages of a kind, invisible to others until the timeout; who dies gives them back by doing nothing.
in_kind: the kind. in_worker: who takes them, 1 to 200 characters; NULL: login and connection. in_max_messages: how many at
the most, 1 to 10000, NULL: 1. in_options: timeout_seconds (0.001 to a year; default that of the kind, 300).
Result: the columns of the message, times in microseconds, scheduled_at being the end of the hold; and receipt, which names
this delivery and can't be guessed: what queue_ack, queue_nack, queue_move and queue_extend want. No row where nothing is
ready or the kind is paused. Order: priority, then delivery time, then entry; best effort where several reserve at once.
Strict priority can starve what is low.
A message whose last delivery (max_attempts) has expired, or whose payload is not of its kind (payload_shape), becomes a dead
letter here.
Errors: PQ001 for kind, worker and max_messages, PQ002 for options.
Locks: the messages; what others have locked is passed over, so no call waits for another. See _queue_take for the rest.
Where the idea comes from: the visibility timeout of SQS; SELECT … FOR UPDATE SKIP LOCKED.$$;
