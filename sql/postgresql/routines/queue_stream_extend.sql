create or replace function queue_stream_extend(in_stream text, in_batch bigint, in_seconds numeric, out extended bigint, out lost bigint)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
    v_now constant bigint := queue_now();
    v_held record;
begin
    perform _queue_check_batch('stream', in_stream, in_batch);
    perform _queue_check_seconds(in_seconds);
    v_held := _queue_stream_held(in_stream, in_batch);
    update delayed_queue q set scheduled_at = v_now + in_seconds * 1000000
    from unnest(v_held.entries, v_held.secrets) r (entry, secret)
    where q.entry between r.entry and r.entry and q.secret = r.secret and q.semaphores is null and q.reserved_by is not null;
    get diagnostics extended = row_count;
    if extended < cardinality(v_held.entries) then
        extended := extended + cardinality(_queue_extend_slotted(v_held.entries, v_held.secrets, in_seconds, v_now));
    end if;
    lost := cardinality(v_held.entries) - extended;
end $$;

comment on function queue_stream_extend(text, bigint, numeric) is
$$Keeps the holds of a batch: queue_extend for every message that its parts have reserved.
in_stream, in_batch: as in queue_stream_reserve. in_seconds: 0 to a year (31536000), from now.
Result: extended and lost: how many messages.
Errors: PQ001 for stream, batch and seconds.
Locks: the messages, in the order of their entries.$$;
