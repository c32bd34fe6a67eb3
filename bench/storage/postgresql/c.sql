-- C: one table, the lock (scheduled_at, not indexed) apart from the position, so that a reserve is a HOT update;
-- the bound lives in the session. Delayed messages stand in the same index, so every priority in use is a probe.
drop schema if exists c cascade;
create schema c;
create table c.queue (
    p_kind text collate "C" not null, p_key text collate "C" not null,
    entry bigint generated always as identity, payload jsonb, priority smallint not null,
    position bigint not null, scheduled_at bigint not null, attempts integer not null default 0, reserved_by text,
    primary key (p_kind, p_key), unique (entry)
) with (fillfactor = 50);
create index on c.queue (p_kind, priority desc, position, entry);
create function c.push(in_n integer, in_priority integer, in_delay bigint) returns void language sql as $$
    insert into c.queue (p_kind, p_key, payload, priority, position, scheduled_at)
    select 'k', uuidv7()::text, common.payload(i), in_priority, common.now_us() + in_delay, common.now_us() + in_delay
    from generate_series(1, in_n) i
$$;
create function c.reserve(in_n integer) returns table (entry bigint, payload jsonb) language plpgsql
    set plan_cache_mode = force_generic_plan as $$
declare
    v_now bigint := common.now_us();
    v_low bigint := coalesce(nullif(current_setting('pyqueue.c', true), ''), '0')::bigint;
    v_tids tid[] := '{}';
    v_priority smallint := 32767;
    v_found tid[];
begin
    loop -- a loose scan over the distinct priorities
        select q.priority into v_priority from c.queue q where q.p_kind = 'k' and q.priority <= v_priority
            and (q.priority <> 0 or q.position >= v_low) order by q.priority desc limit 1;
        exit when not found;
        v_found := array(select q.ctid from c.queue q where q.p_kind = 'k' and q.priority = v_priority
            and q.position between v_low and v_now and q.scheduled_at <= v_now
            order by q.p_kind, q.priority desc, q.position, q.entry
            limit in_n - cardinality(v_tids) for update skip locked);
        v_tids := v_tids || v_found;
        exit when cardinality(v_tids) >= in_n or v_priority = -32768;
        v_priority := v_priority - 1;
    end loop;
    return query with u as (update c.queue q set scheduled_at = v_now + 30000000, attempts = q.attempts + 1, reserved_by = 'w'
        where q.ctid = any (v_tids) returning q.entry, q.payload, q.position),
        s as (select set_config('pyqueue.c', max(u.position)::text, false) from u)
        select u.entry, u.payload from u, s;
end $$;
create function c.ack(in_entries bigint[]) returns bigint language sql as $$
    with d as (delete from c.queue q where q.entry = any (in_entries) returning 1) select count(*) from d
$$;
