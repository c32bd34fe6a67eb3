-- B: the payload, the ready line and the holds apart; each only inserted and deleted. The bound lives in the session.
drop schema if exists b cascade;
create schema b;
create table b.message (
    p_kind text collate "C" not null, p_key text collate "C" not null,
    entry bigint generated always as identity primary key, payload jsonb, priority smallint not null,
    unique (p_kind, p_key)
);
create table b.ready (p_kind text collate "C", priority smallint, ready_at bigint, entry bigint);
create index on b.ready (p_kind, priority desc, ready_at, entry);
create table b.hold (entry bigint primary key, p_kind text collate "C", until bigint, attempts integer, reserved_by text);
create index on b.hold (p_kind, until);
create function b.push(in_n integer, in_priority integer, in_delay bigint) returns void language sql as $$
    with m as (insert into b.message (p_kind, p_key, payload, priority)
        select 'k', uuidv7()::text, common.payload(i), in_priority from generate_series(1, in_n) i
        returning p_kind, priority, entry)
    insert into b.ready select m.p_kind, m.priority, common.now_us() + in_delay, m.entry from m
$$;
create function b.reserve(in_n integer) returns table (entry bigint, payload jsonb) language plpgsql
    set plan_cache_mode = force_generic_plan as $$
declare
    v_now bigint := common.now_us();
    v_low bigint := coalesce(nullif(current_setting('pyqueue.b', true), ''), '0')::bigint;
    v_entries bigint[];
begin
    with d as (
        delete from b.ready r where r.ctid = any (array(
            select q.ctid from b.ready q where q.p_kind = 'k' and q.priority = 0 and q.ready_at between v_low and v_now
            order by q.p_kind, q.priority desc, q.ready_at, q.entry limit in_n for update skip locked))
        returning r.entry, r.ready_at),
    h as (insert into b.hold select d.entry, 'k', v_now + 30000000, 1, 'w' from d returning 1)
    select array_agg(d.entry), max(d.ready_at) into v_entries, v_low from d;
    if v_low is not null then
        perform set_config('pyqueue.b', v_low::text, false);
    end if;
    return query select m.entry, m.payload from b.message m where m.entry = any (v_entries);
end $$;
create function b.ack(in_entries bigint[]) returns bigint language sql as $$
    with h as (delete from b.hold h where h.entry = any (in_entries) returning h.entry),
    d as (delete from b.message m using h where m.entry = h.entry returning 1) select count(*) from d
$$;
