-- E: C with the waiting apart. `ready_at` is the place in the ready line, `due_at` the entry in the timetable; a message
-- stands in one of the two, and a reserve touches neither, so it stays a HOT update. What waits, of whatever priority,
-- isn't in the line that a reserve scans. Bounds live in the session and are used only where a scan from the start
-- is slow: from the bound, now and then from a mark some seconds behind it, seldom from the start.
drop schema if exists e cascade;
create schema e;
create table e.queue (
    p_kind text collate "C" not null, p_key text collate "C" not null,
    entry bigint generated always as identity, payload jsonb, priority smallint not null,
    ready_at bigint, due_at bigint, scheduled_at bigint not null, attempts integer not null default 0,
    reserved_at bigint, reserved_by text, secret bigint,
    primary key (p_kind, p_key), unique (entry)
) with (fillfactor = 50);
create index queue_ready on e.queue (p_kind, (-priority::integer), ready_at, entry) where ready_at is not null;
create index queue_due on e.queue (p_kind, due_at) where due_at is not null;

create function e.push(in_n integer, in_priority integer, in_delay bigint) returns void language sql as $$
    insert into e.queue (p_kind, p_key, payload, priority, scheduled_at, ready_at, due_at)
    select 'k', uuidv7()::text, common.payload(i), in_priority, t, case when in_delay <= 0 then t end,
        case when in_delay > 0 then t end
    from generate_series(1, in_n) i, lateral (select common.now_us() + in_delay + i * 0 as t) c
$$;

-- What has come due moves from the timetable into the ready line.
create function e.promote(in_from bigint, in_now bigint, in_max integer) returns bigint language sql as $$
    with u as (
        update e.queue q set ready_at = q.due_at, due_at = null
        where q.ctid = any (array(select d.ctid from e.queue d
            where d.p_kind = 'k' and d.due_at between in_from and in_now
            order by d.p_kind, d.due_at limit in_max for update skip locked))
        returning q.ready_at)
    select max(u.ready_at) from u
$$;

-- Holds that last are moved to the timetable at their expiry, so that nobody has to look for them below the bounds.
create function e.settle(in_rank bigint, in_from bigint, in_to bigint, in_now bigint) returns void language sql as $$
    update e.queue q set ready_at = null, due_at = q.scheduled_at
    where q.ctid = any (array(select h.ctid from e.queue h
        where h.p_kind = 'k' and -h.priority::integer = in_rank and h.ready_at between in_from and in_to
        and h.scheduled_at > in_now limit 1000 for update skip locked))
$$;

-- state, kept only while a scan from the start is slow: 1 when one may come next, 2 when one from the marks, 3 when the
-- marks move on; 4 to 6 bound, newer and older mark of the timetable; then rank, bound, newer and older mark of a lane.
create function e.reserve(in_n integer) returns table (entry bigint, payload jsonb) language plpgsql
    set plan_cache_mode = force_generic_plan as $$
declare
    v_now constant bigint := common.now_us();
    v_start bigint := v_now;
    v_took bigint;
    v_state bigint[] := nullif(current_setting('pyqueue.e', true), '')::bigint[];
    v_offset integer; -- 0: from the bounds, 2: from the marks, NULL: from the start
    v_promoted bigint;
    v_tids tid[];
begin
    if v_now < v_state[1] then
        v_offset := case when v_now < v_state[2] then 0 else 2 end;
    end if;
    loop
        if exists (select from e.queue d where d.p_kind = 'k' and d.due_at between coalesce(v_state[4 + v_offset], 0) and v_now) then
            v_promoted := e.promote(coalesce(v_state[4 + v_offset], 0), v_now, 1000);
        end if;
        if v_offset is null or v_promoted is not null then
            v_tids := array(select q.ctid from e.queue q where q.p_kind = 'k' and q.ready_at is not null and q.scheduled_at <= v_now
                order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit in_n for update skip locked);
        else
            v_tids := e._scan(v_state, v_offset, v_now, in_n);
        end if;
        v_took := common.now_us() - v_start;
        exit when cardinality(v_tids) > 0 or v_offset is null or v_state[1] - v_now > 500000;
        v_offset := null;
        v_start := common.now_us();
    end loop;
    if v_took > 60 + 3 * in_n or v_now > v_state[2] then
        perform e._remember(v_state, v_offset, v_now, v_took, v_promoted, in_n, v_tids);
    end if;
    return query
        with u as (update e.queue q set scheduled_at = v_now + 30000000, attempts = q.attempts + 1,
                reserved_at = v_now, reserved_by = 'w', secret = 4711
            where q.ctid = any (v_tids) returning q.entry, q.payload, q.ready_at, -q.priority::integer as rank)
        select u.entry, u.payload from u order by u.rank, u.ready_at, u.entry;
end $$;
-- The scan from the bounds: each lane (a rank) with the gap behind it is one range of the index.
create function e._scan(in_state bigint[], in_offset integer, in_now bigint, in_n integer) returns tid[] language plpgsql as $$
declare
    v_rank bigint := in_state[7];
    v_low bigint := in_state[8 + in_offset];
    v_ranks bigint[] := array[-2147483648::bigint];
    v_lows bigint[] := array[0::bigint];
begin
    if cardinality(in_state) = 10 then
        return array(select r.ctid from (
            select * from (select q.ctid from e.queue q where q.p_kind = 'k' and q.ready_at is not null and q.scheduled_at <= in_now
                and -q.priority::integer < v_rank
                order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit in_n for update skip locked) a
            union all
            select * from (select q.ctid from e.queue q where q.p_kind = 'k' and q.ready_at is not null and q.scheduled_at <= in_now
                and (-q.priority::integer, q.ready_at) >= (v_rank, v_low)
                order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit in_n for update skip locked) b) r limit in_n);
    end if;
    for i in 7 .. cardinality(in_state) by 4 loop
        v_ranks := v_ranks || in_state[i]; v_lows := v_lows || in_state[i + 1 + in_offset];
    end loop;
    return array(select r.ctid from unnest(v_ranks, v_lows, v_ranks[2:] || 2147483648) a (rank, low, next_rank),
        lateral (select q.ctid from e.queue q where q.p_kind = 'k' and q.ready_at is not null and q.scheduled_at <= in_now
            and (-q.priority::integer, q.ready_at) >= (a.rank, a.low) and -q.priority::integer < a.next_rank
            order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit in_n for update skip locked) r limit in_n);
end $$;
create function e._remember(in_state bigint[], in_offset integer, in_now bigint, in_took bigint, in_promoted bigint, in_n integer,
    in_tids tid[]) returns void language plpgsql as $$
declare
    v_state bigint[] := coalesce(in_state, array[0, 0, in_now + 3000000, 0, 0, 0]);
    v_lane integer := 7;
    v_rank bigint;
    v_last bigint;
begin
    if in_offset is null then
        if in_took <= 60 + 3 * in_n then
            perform set_config('pyqueue.e', '', false);
            return;
        end if;
        v_state[1] := in_now + 50 * in_took;
    elsif in_offset = 2 then
        v_state[2] := in_now + greatest(400000, 30 * in_took);
    end if;
    v_state[4] := coalesce(in_promoted, v_state[4]);
    for v_rank, v_last in
        select -q.priority::integer, max(q.ready_at) from e.queue q where q.ctid = any (in_tids) group by 1 order by 1
    loop
        while v_state[v_lane] < v_rank loop v_lane := v_lane + 4; end loop;
        if v_state[v_lane] = v_rank then
            v_state[v_lane + 1] := v_last;
        else
            v_state := v_state[:v_lane - 1] || array[v_rank, v_last, 0, 0] || v_state[v_lane:];
        end if;
    end loop;
    if in_now >= v_state[3] then
        for i in 7 .. cardinality(v_state) by 4 loop
            perform e.settle(v_state[i], v_state[i + 3], v_state[i + 2], in_now);
            v_state[i + 3] := v_state[i + 2]; v_state[i + 2] := v_state[i + 1];
        end loop;
        v_state[6] := v_state[5]; v_state[5] := v_state[4];
        v_state[3] := in_now + 3000000;
    end if;
    perform set_config('pyqueue.e', v_state::text, false);
end $$;
create function e.ack(in_entries bigint[]) returns bigint language sql as $$
    with d as (delete from e.queue q where q.entry = any (in_entries) returning 1) select count(*) from d
$$;
