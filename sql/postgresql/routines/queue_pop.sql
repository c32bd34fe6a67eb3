create or replace function queue_pop(in_kind text, in_max_messages integer default null, in_options jsonb default null)
    returns table (p_kind text, p_key text, payload jsonb, payload_bytes bytea, headers jsonb,
        priority smallint, scheduled_at bigint, scheduled_at_initially bigint, created_at bigint, reserved_at bigint,
        attempts integer, reserved_by text)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
    v_now constant bigint := queue_now();
    v_keeps boolean;
    v_left integer := coalesce(in_max_messages, 1);
    v_kind queue_kind;
    v_take record;
    v_rows integer;
begin
    if (char_length(in_kind) between 1 and 100 and v_left between 1 and 10000) is not true then
        perform _queue_check_kind(in_kind, 100);
        perform _queue_check_count(v_left, 'max_messages', 10000);
    elsif in_options is not null then
        perform _queue_check_options(in_options, '{}');
    end if;
    select k.* into v_kind from queue_kind k where k.p_kind = in_kind; -- none: the defaults
    v_kind.p_kind := in_kind;
    if v_kind.expires_seconds is not null then
        perform _queue_use(v_kind, v_now);
    end if;
    if v_kind.paused then
        return;
    elsif random() < 0.05 then
        perform _queue_tidy(v_kind, v_now, 40 * v_left);
    end if;
    v_keeps := v_kind.history_seconds > 0 or v_kind.dedup_seconds > 0;
    loop
        v_take := _queue_take(in_kind, v_left, v_now);
        exit when v_take.tids is null;
        return query
            with d as (
                delete from delayed_queue q
                where q.ctid = any (v_take.tids) and q.pending is null
                    and q.attempts < coalesce(q.max_attempts, v_kind.max_attempts, 2147483647)
                    and (v_kind.payload_shape is null or _queue_misfit(v_kind.payload_shape, q.payload) is null)
                returning q.*, case when v_keeps then q end as message),
            c as (
                insert into queue_count (p_kind, pushed, popped)
                select in_kind, count(*) - count(d.source_kind), count(*) from d having count(*) > 0),
            h as (
                insert into queue_history
                select e.* from d join queue_kind k on k.p_kind = d.p_kind and k.history_seconds > 0, _queue_ended(d.message, 'popped', null, v_now) e
                where v_keeps),
            m as (
                insert into queue_dedup (p_kind, p_key, ended_at)
                select d.p_kind, (d.message).p_key, v_now from d join queue_kind k on k.p_kind = d.p_kind and k.dedup_seconds > 0
                where v_keeps order by 2, 1
                on conflict on constraint queue_dedup_pkey do update set ended_at = excluded.ended_at)
            select d.p_kind, d.p_key, d.payload, d.payload_bytes, d.headers, d.priority, d.scheduled_at,
                d.scheduled_at_initially, d.created_at, v_now, d.attempts + 1, null::text
            from d order by -d.priority::integer, d.ready_at, d.entry;
        get diagnostics v_rows = row_count;
        if v_take.expired > 0 then
            insert into queue_count (p_kind, reserved, expired) values (in_kind, v_take.expired, v_take.expired);
        end if;
        exit when v_rows = cardinality(v_take.tids);
        perform _queue_end_expired(v_take.tids, v_now);
        v_left := v_left - v_rows;
        exit when v_left = 0;
    end loop;
end $$;

comment on function queue_pop(text, integer, jsonb) is
$$Takes ready messages of a kind and removes them: at most once, there is no way back.
in_kind: the kind. in_max_messages: how many at the most, 1 to 10000, NULL: 1. in_options: none yet.
Result: the columns of each message as it was, times in microseconds; reserved_at and attempts are of this delivery. Order and
paused kinds as in queue_reserve.
Errors: PQ001 for kind and max_messages, PQ002 for options.
Locks: as queue_reserve.$$;
