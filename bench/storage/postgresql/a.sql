-- A: one table, scheduled_at indexed. Each reserve rewrites every index entry of the row.
drop schema if exists a cascade;
create schema a;
create table a.queue (
    p_kind text collate "C" not null, p_key text collate "C" not null,
    entry bigint generated always as identity, payload jsonb, priority smallint not null,
    scheduled_at bigint not null, attempts integer not null default 0, reserved_by text,
    primary key (p_kind, p_key), unique (entry)
);
create index on a.queue (p_kind, priority desc, scheduled_at, entry);
create function a.push(in_n integer, in_priority integer, in_delay bigint) returns void language sql as $$
    insert into a.queue (p_kind, p_key, payload, priority, scheduled_at)
    select 'k', uuidv7()::text, common.payload(i), in_priority, common.now_us() + in_delay
    from generate_series(1, in_n) i
$$;
create function a.reserve(in_n integer) returns table (entry bigint, payload jsonb) language plpgsql
    set plan_cache_mode = force_generic_plan as $$
declare
    v_now bigint := common.now_us();
    v_tids tid[];
begin
    v_tids := array(select q.ctid from a.queue q where q.p_kind = 'k' and q.scheduled_at <= v_now
        order by q.p_kind, q.priority desc, q.scheduled_at, q.entry limit in_n for update skip locked);
    return query update a.queue q set scheduled_at = v_now + 30000000, attempts = q.attempts + 1, reserved_by = 'w'
        where q.ctid = any (v_tids) returning q.entry, q.payload;
end $$;
create function a.ack(in_entries bigint[]) returns bigint language sql as $$
    with d as (delete from a.queue q where q.entry = any (in_entries) returning 1) select count(*) from d
$$;
