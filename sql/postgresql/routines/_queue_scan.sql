create or replace function _queue_scan(in_kind text, in_now bigint, in_max integer, in_bounds bigint[], in_offset integer,
    in_low bigint, out tids tid[], out expired bigint, out last bigint, out last_entry bigint) language plpgsql as $$
declare
    v_rank constant bigint := in_bounds[13];
    v_low bigint;
    v_entry bigint;
    v_ranks bigint[] := array[-2147483648::bigint];
    v_lows bigint[] := array[0::bigint];
    v_entries bigint[] := array[0::bigint];
begin
    if in_offset is null then
        select array_agg(r.tid), count(r.reserved_at) into tids, expired from (
            select q.ctid as tid, q.reserved_at from delayed_queue q
            where q.p_kind = in_kind and q.ready_at is not null and q.scheduled_at <= in_now
            order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit in_max for update skip locked) r;
        return;
    elsif cardinality(in_bounds) = 19 then -- one priority in use: what stands before it, then it and what follows
        v_low := least(in_bounds[14 + 2 * in_offset], in_low);
        v_entry := case when v_low = in_low then 0 else in_bounds[15 + 2 * in_offset] end;
        select array_agg(r.tid), count(r.reserved_at), case when min(r.rank) = v_rank and max(r.rank) = v_rank then max(r.ready_at) end,
            (array_agg(r.entry))[count(*)]
        into tids, expired, last, last_entry
        from (select l.* from (
            select * from (
                select q.ctid as tid, q.reserved_at, -q.priority::integer as rank, q.ready_at, q.entry from delayed_queue q
                where q.p_kind = in_kind and q.ready_at is not null and q.scheduled_at <= in_now
                    and -q.priority::integer < v_rank
                order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit in_max for update skip locked) a
            union all
            select * from (
                select q.ctid, q.reserved_at, -q.priority::integer, q.ready_at, q.entry from delayed_queue q
                where q.p_kind = in_kind and q.ready_at is not null and q.scheduled_at <= in_now
                    and (-q.priority::integer, q.ready_at, q.entry) >= (v_rank, v_low, v_entry)
                order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit in_max for update skip locked) b
            ) l limit in_max) r;
        return;
    end if;
    for i in 13 .. cardinality(in_bounds) by 7 loop
        v_ranks := v_ranks || in_bounds[i];
        v_low := least(in_bounds[i + 1 + 2 * in_offset], in_low);
        v_lows := v_lows || v_low;
        v_entries := v_entries || case when v_low = in_low then 0 else in_bounds[i + 2 + 2 * in_offset] end;
    end loop;
    select array_agg(r.tid), count(r.reserved_at) into tids, expired from (
        select l.tid, l.reserved_at 
        from unnest(v_ranks, v_lows, v_entries, v_ranks[2:] || 2147483648) a (rank, low, entry, next_rank),
            lateral (
                select q.ctid as tid, q.reserved_at from delayed_queue q
                where q.p_kind = in_kind and q.ready_at is not null and q.scheduled_at <= in_now
                    and (-q.priority::integer, q.ready_at, q.entry) >= (a.rank, a.low, a.entry)
                    and -q.priority::integer < a.next_rank
                order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit in_max for update skip locked) l
        limit in_max) r;
end $$;

comment on function _queue_scan(text, bigint, integer, bigint[], integer, bigint) is
$$The next messages of the ready line, locked.
in_kind: the kind. in_now: the time of the call. in_max: how many. in_bounds: see _queue_take. in_offset: NULL: from the
start; 0: from the bounds; 2: from the older marks. in_low: no later than this place, NULL for none.
Result: tids, row identifiers (NULL for none), how many of them are expired holds, and last and
last_entry, the bound that they give, where one priority is in use and all are of it. A lane with the gap behind it is one range
of the index, so a priority that comes new is found where it stands.
Locks: the messages; what others have locked is left out.$$;
