-- calls: _queue_boolean, _queue_check_batch, _queue_check_roles, _queue_fail, _queue_integer, _queue_text, queue_now,
--     queue_reserve
-- changes: queue_stream_part
create or replace function queue_stream_reserve(in_stream text, in_batch bigint, in_part integer, in_kind text,
    in_max_messages integer default null, in_options jsonb default null)
    returns table (p_kind text, p_key text, payload jsonb, payload_bytes bytea, headers jsonb,
        priority smallint, scheduled_at bigint, scheduled_at_initially bigint, created_at bigint, reserved_at bigint,
        attempts integer, reserved_by text, receipt text, errors jsonb)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_source text;
    v_plan bigint;
    v_newest bigint;
    v_sealed boolean := false;
    v_done boolean;
    v_follows boolean;
    v_adopts boolean;
begin
    perform _queue_check_batch('stream', in_stream, in_batch);
    if in_part >= 0 is not true then
        perform _queue_fail('PQ001', 'part', in_part::text, 'must be 0 or more');
    end if;
    v_source := coalesce(_queue_text(in_options, 'source'), in_stream || '/' || in_batch);
    if char_length(v_source) between 1 and 230 is not true then
        perform _queue_fail('PQ002', 'source', v_source, 'must have 1 to 230 characters');
    end if;
    -- what it handed out before, too: a source may have been of another kind then
    perform _queue_check_roles(in_kind ||
        array(select k.p_kind from queue_stream_kept k where k.source = v_source and k.part = in_part) || array(
        select q.p_kind
        from queue_stream_part p, jsonb_array_elements_text(p.receipts) e (receipt),
            lateral (select left(e.receipt, -33)::bigint as entry) r
        join delayed_queue q on q.entry between r.entry and r.entry
        where p.source = v_source and p.part = in_part));
    v_plan := _queue_integer(in_options, 'plan', 1::bigint, 9223372036854775807);
    v_follows := coalesce(_queue_boolean(in_options, 'follows'), false);
    v_adopts := _queue_boolean(in_options, 'adopt');
    v_done := exists (select from queue_stage_done d where d.query = in_stream and d.batch >= in_batch);
    if v_plan is not null and not v_done then
        select l.plan, l.sealed into v_newest, v_sealed from queue_stream_plan l where l.source = v_source for share;
        if v_newest is distinct from v_plan then
            perform _queue_fail('PQ004', 'plan', v_plan::text,
                'must be the newest of its source: another run reads it now');
        end if;
        -- what has parts and none that is held was ended for another stream
        v_done := v_sealed and not exists (select from queue_stream_part p where p.source = v_source);
    end if;
    if v_done then
        return query
            select k.p_kind, k.p_key, k.payload, k.payload_bytes, k.headers, k.priority, k.scheduled_at,
                k.scheduled_at_initially, k.created_at, k.reserved_at, k.attempts, k.reserved_by, k.receipt, k.errors
            from queue_stream_kept k where k.source = v_source and k.part = in_part order by k.place;
        return;
    end if;
    if not v_sealed and (not v_follows or exists (
        select from queue_stream_part b where b.source = v_source and b.part = in_part - 1 and b.handed >= b.wanted))
            then
        insert into queue_stream_part (source, part, stream, batch, wanted, begun_at)
        values (v_source, in_part, in_stream, in_batch, coalesce(in_max_messages, 1), v_now)
        on conflict on constraint queue_stream_part_pkey do nothing;
        if found then
            return query
                with r as materialized (
                    select m.*
                    from queue_reserve(in_kind, left(in_stream, 160) || '/' || in_batch || '/' || in_part,
                        in_max_messages, case jsonb_typeof(in_options)
                        when 'object' then in_options - '{source,plan,follows,adopt}'::text[] else in_options end) m),
                p as (
                    update queue_stream_part p
                    set receipts = (select coalesce(jsonb_agg(r.receipt), '[]') from r),
                        handed = (select count(*) from r)
                    where p.source = v_source and p.part = in_part)
                select r.* from r;
            return;
        end if;
    end if;
    if v_adopts then
        update queue_stream_part p set stream = in_stream, batch = in_batch
        where p.source = v_source and p.part = in_part and (p.stream <> in_stream or p.batch <> in_batch);
    end if;
    -- what somebody else has by now isn't handed out; it stays written down, since an earlier try may have had it
    return query
        select q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
            q.scheduled_at_initially, q.created_at, q.reserved_at, q.attempts, q.reserved_by, e.receipt, q.errors
        from queue_stream_part p, jsonb_array_elements_text(p.receipts) with ordinality e (receipt, place),
            lateral (select left(e.receipt, -33)::bigint as entry, decode(right(e.receipt, 32), 'hex') as secret) r
        join delayed_queue q on q.entry between r.entry and r.entry and q.secret = r.secret
        where p.source = v_source and p.part = in_part
        order by e.place;
end $$;

comment on function queue_stream_reserve(text, bigint, integer, text, integer, jsonb) is
$$queue_reserve for one part of a batch. Who asks again for the same part gets the same messages, as far as they are
still held for it, and no others, whatever it wants to take now. So a task that fails is run again, and a batch is
replayed. queue_stream_commit ends the batch.
in_stream: what names the reader, 1 to 200 characters; its first 160 and the batch and the part are the worker.
in_batch: the number of the batch, they only go up.
in_part: the part of it, from 0.
in_kind and in_max_messages: those of queue_reserve.
in_options: those of queue_reserve, and four more.
- timeout_seconds: how long the hold lasts. Allowed: 0.001 to 31536000 (a year). Default: timeout_seconds of the kind,
  300.
- where: takes only messages that contain this object, as in queue_reserve. Allowed: an object of at most 16 values.
  Default: all messages.
- source: what names the read, where a batch has several. Allowed: 1 to 230 characters. Default: the stream and the
  batch, with / between.
- plan: what queue_stream_plan returned for it. The call is refused where the read was planned again since. Allowed: a
  number. Default: none.
- follows: a part that goes on where the one before it was full, and is empty where it wasn't. Allowed: true, false.
  Default: false.
- adopt: what an earlier run was handed out for another stream or batch is of these from now on. Allowed: true, false.
  Default: false.
Result: that of queue_reserve; where the batch is committed already what it has kept, see queue_stream_commit.
Errors: PQ007 for a kind that is for others. PQ001 for stream, batch, part, kind and max_messages, PQ002 for options,
PQ004 for plan.
Locks: as queue_reserve; the plan, shared; a second call for the same part waits for the first.
Where the idea comes from: the offsets of a log, for a queue that has none.$$;
