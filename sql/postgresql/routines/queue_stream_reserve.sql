create or replace function queue_stream_reserve(in_stream text, in_batch bigint, in_part integer, in_kind text,
    in_max_messages integer default null, in_options jsonb default null)
    returns table (p_kind text, p_key text, payload jsonb, payload_bytes bytea, headers jsonb,
        priority smallint, scheduled_at bigint, scheduled_at_initially bigint, created_at bigint, reserved_at bigint,
        attempts integer, reserved_by text, receipt text)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
    v_now constant bigint := queue_now();
    v_receipts jsonb;
begin
    perform _queue_check_batch('stream', in_stream, in_batch);
    if in_part >= 0 is not true then
        perform _queue_fail('PQ001', 'part', in_part::text, 'must be 0 or more');
    elsif exists (select from queue_stage_done d where d.query = in_stream and d.batch >= in_batch) then
        return;
    end if;
    insert into queue_stream_part (stream, batch, part, receipts, begun_at) values (in_stream, in_batch, in_part, '[]', v_now)
    on conflict on constraint queue_stream_part_pkey do nothing;
    if found then
        return query
            with r as materialized (
                select m.*
                from queue_reserve(in_kind, left(in_stream, 160) || '/' || in_batch || '/' || in_part, in_max_messages, in_options) m),
            p as (
                update queue_stream_part p set receipts = (select coalesce(jsonb_agg(r.receipt), '[]') from r)
                where p.stream = in_stream and p.batch = in_batch and p.part = in_part)
            select r.* from r;
        return;
    end if;
    -- what somebody else has by now is none of the batch's any more
    select coalesce(jsonb_agg(e.receipt order by e.place), '[]') into v_receipts
    from queue_stream_part p, jsonb_array_elements_text(p.receipts) with ordinality e (receipt, place),
        lateral (select left(e.receipt, -33)::bigint as entry, decode(right(e.receipt, 32), 'hex') as secret) r,
        delayed_queue q
    where p.stream = in_stream and p.batch = in_batch and p.part = in_part
        and q.entry between r.entry and r.entry and q.secret = r.secret;
    update queue_stream_part p set receipts = v_receipts
    where p.stream = in_stream and p.batch = in_batch and p.part = in_part and p.receipts <> v_receipts;
    return query
        select q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at, q.scheduled_at_initially,
            q.created_at, q.reserved_at, q.attempts, q.reserved_by, e.receipt
        from jsonb_array_elements_text(v_receipts) with ordinality e (receipt, place),
            lateral (select left(e.receipt, -33)::bigint as entry, decode(right(e.receipt, 32), 'hex') as secret) r
        join delayed_queue q on q.entry between r.entry and r.entry and q.secret = r.secret
        order by e.place;
end $$;

comment on function queue_stream_reserve(text, bigint, integer, text, integer, jsonb) is
$$queue_reserve for one part of a batch: who asks again for the same part gets the same messages, as far as they are still held for it,
and no others. So a task that fails is run again, and a batch is replayed. queue_stream_commit ends the batch.
in_stream: what names the reader, 1 to 200 characters; its first 160 and the batch and the part are the worker. in_batch: the number of
the batch, they only go up. in_part: the part of it, from 0. in_kind, in_max_messages and in_options: those of queue_reserve.
Result: that of queue_reserve; no row where the batch is committed already.
Errors: PQ001 for stream, batch, part, kind and max_messages, PQ002 for options.
Locks: as queue_reserve; a second call for the same part waits for the first.
Where the idea comes from: the offsets of a log, for a queue that has none.$$;
