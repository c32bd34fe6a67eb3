-- calls: _queue_check_name, _queue_check_options, _queue_check_seconds, _queue_extend_with_permits, _queue_integer,
--     _queue_stream_held, _queue_wake, queue_now
-- changes: delayed_queue
create or replace function queue_stream_extend(in_source text, in_seconds double precision,
    in_options jsonb default null, out extended bigint, out lost bigint)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_plan bigint;
    v_held record;
    v_kinds text[];
begin
    perform _queue_check_name(in_source, 230, 'source');
    perform _queue_check_seconds(in_seconds);
    perform _queue_check_options(in_options, '{plan}'::text[], 'options');
    v_plan := _queue_integer(in_options, 'plan', 1::bigint, 9223372036854775807);
    v_held := _queue_stream_held(in_source, null, null::bigint);
    -- all at once: those that name semaphores are extended after the others
    perform q.entry from delayed_queue q where q.entry = any (v_held.entries) order by q.entry + 0 for update;
    if v_plan is not null
        and v_plan is distinct from (select l.plan from queue_stream_plan l where l.source = in_source) then
        extended := 0;
        lost := 0;
        return;
    end if;
    with u as (
        update delayed_queue q set scheduled_at = v_now + (in_seconds * 1000000)::bigint
        from unnest(v_held.entries, v_held.secrets) r (entry, secret)
        where q.entry between r.entry and r.entry and q.secret = r.secret and q.semaphores is null
            and q.reserved_by is not null
        returning q.p_kind)
    select count(*), array_agg(distinct u.p_kind) into extended, v_kinds from u;
    perform _queue_wake(k.name, null) from unnest(v_kinds) k (name) where in_seconds = 0;
    if extended < cardinality(v_held.entries) then
        extended := extended + cardinality(_queue_extend_with_permits(v_held.entries, v_held.secrets, in_seconds,
            v_now));
    end if;
    lost := cardinality(v_held.entries) - extended;
end $$;

comment on function queue_stream_extend(text, double precision, jsonb) is
$$Keeps the holds of a read: queue_extend for every message that it was handed out. With 0 seconds they go to whoever
asks first, the read itself if it is done again before anybody else comes.
in_source: as in queue_stream_reserve. in_seconds: 0 to a year (31536000), from now.
in_options: what else is to be known.
- plan: the number that queue_stream_plan answered. Where the read was planned again since, nothing happens: it is for
  others to keep. Allowed: 1 or more. Default: whichever it is.
Result: extended and lost: how many messages; none of both once the batch is committed.
Errors: PQ001 for source and seconds, PQ002 for options.
Locks: the messages, in the order of their entries.$$;
