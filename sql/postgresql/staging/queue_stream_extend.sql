-- calls: _queue_check_kind, _queue_check_seconds, _queue_extend_with_permits, _queue_stream_held, _queue_wake,
--     queue_now
-- changes: delayed_queue
create or replace function queue_stream_extend(in_source text, in_seconds double precision, out extended bigint,
    out lost bigint)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_held record;
    v_kinds text[];
begin
    perform _queue_check_kind(in_source, 230, 'source');
    perform _queue_check_seconds(in_seconds);
    v_held := _queue_stream_held(in_source, null, null::bigint);
    with u as (
        update delayed_queue q set scheduled_at = v_now + (in_seconds * 1000000)::bigint
        from unnest(v_held.entries, v_held.secrets) r (entry, secret)
        where q.entry between r.entry and r.entry and q.secret = r.secret and q.semaphores is null
            and q.reserved_by is not null
        returning q.p_kind)
    select count(*), array_agg(distinct u.p_kind) into extended, v_kinds from u;
    if in_seconds = 0 then
        perform _queue_wake(k.name, null) from unnest(v_kinds) k (name);
    end if;
    if extended < cardinality(v_held.entries) then
        extended := extended + cardinality(_queue_extend_with_permits(v_held.entries, v_held.secrets, in_seconds,
            v_now));
    end if;
    lost := cardinality(v_held.entries) - extended;
end $$;

comment on function queue_stream_extend(text, double precision) is
$$Keeps the holds of a read: queue_extend for every message that it was handed out. With 0 seconds they go to whoever
asks first, the read itself if it is done again before anybody else comes.
in_source: as in queue_stream_reserve. in_seconds: 0 to a year (31536000), from now.
Result: extended and lost: how many messages; none of both once the batch is committed.
Errors: PQ001 for source and seconds.
Locks: the messages, in the order of their entries.$$;
