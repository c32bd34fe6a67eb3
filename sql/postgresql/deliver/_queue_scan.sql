create or replace function _queue_scan(in_kind text, in_now bigint, in_max integer, in_most integer,
    in_cursor queue_cursor, in_from text, in_low bigint, out tids tid[], out expired bigint, out ends bigint,
    out last bigint, out last_entry bigint) language plpgsql as $$
declare
    v_rank constant bigint := in_cursor.ranks[1];
    v_places constant bigint[] := case in_from when 'marks' then in_cursor.older_places else in_cursor.places end;
    v_entries constant bigint[] := case in_from when 'marks' then in_cursor.older_entries else in_cursor.entries end;
    v_low bigint;
    v_entry bigint;
begin
    if in_from = 'start' then
        select array_agg(r.tid), count(r.reserved_at), count(*) filter (where r.ends) into tids, expired, ends from (
            select q.ctid as tid, q.reserved_at, q.pending is not null or q.semaphores is not null
                or q.attempts >= coalesce(q.max_attempts, in_most) as ends
            from delayed_queue q
            where q.p_kind = in_kind and q.ready_at is not null and q.scheduled_at <= in_now
            order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit in_max for update skip locked) r;
    elsif cardinality(in_cursor.ranks) = 1 then -- one priority in use: what stands before it, then it and what follows
        v_low := least(v_places[1], in_low);
        v_entry := case when v_low = in_low then 0 else v_entries[1] end;
        select array_agg(r.tid), count(r.reserved_at), count(*) filter (where r.ends), case when min(r.rank) = v_rank
            and max(r.rank) = v_rank then max(r.ready_at) end, (array_agg(r.entry))[count(*)]
        into tids, expired, ends, last, last_entry
        from (select l.* from (
            select * from (
                select q.ctid as tid, q.reserved_at, -q.priority::integer as rank, q.ready_at, q.entry,
                    q.pending is not null or q.semaphores is not null
                    or q.attempts >= coalesce(q.max_attempts, in_most) as ends
                from delayed_queue q
                where q.p_kind = in_kind and q.ready_at is not null and q.scheduled_at <= in_now
                    and -q.priority::integer < v_rank
                order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit in_max for update skip locked) a
            union all
            select * from (
                select q.ctid, q.reserved_at, -q.priority::integer, q.ready_at, q.entry,
                    q.pending is not null or q.semaphores is not null or q.attempts >= coalesce(q.max_attempts, in_most)
                from delayed_queue q
                where q.p_kind = in_kind and q.ready_at is not null and q.scheduled_at <= in_now
                    and (-q.priority::integer, q.ready_at, q.entry) >= (v_rank, v_low, v_entry)
                order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit in_max for update skip locked) b
            ) l limit in_max) r;
    else
        select array_agg(r.tid), count(r.reserved_at), count(*) filter (where r.ends) into tids, expired, ends from (
            select l.tid, l.reserved_at, l.ends
            from unnest(-2147483648::bigint || in_cursor.ranks, 0::bigint || v_places, 0::bigint || v_entries,
                    in_cursor.ranks || 2147483648) a (rank, place, entry, next_rank),
                lateral (
                    select q.ctid as tid, q.reserved_at, q.pending is not null or q.semaphores is not null
                        or q.attempts >= coalesce(q.max_attempts, in_most) as ends
                    from delayed_queue q
                    where q.p_kind = in_kind and q.ready_at is not null and q.scheduled_at <= in_now
                        and (-q.priority::integer, q.ready_at, q.entry)
                            >= (a.rank, least(a.place, in_low), case when a.place >= in_low then 0 else a.entry end)
                        and -q.priority::integer < a.next_rank
                    order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit in_max for update skip locked) l
            limit in_max) r;
    end if;
end $$;

comment on function _queue_scan(text, bigint, integer, integer, queue_cursor, text, bigint) is
$$The next messages of the ready line, locked.
in_kind: the kind. in_now: the time of the call. in_max: how many. in_most: how many deliveries a message of the
kind may have. in_cursor: the cursor. in_from: where to begin: start, cursor (its places) or marks (its older marks).
in_low: no later than this place, NULL for none.
Result: tids, row identifiers (NULL for none); expired: how many of them are expired holds; ends: how many name
semaphores or can't be delivered; last and last_entry, the place that they give, where one priority is in use and all
are of it. A lane with the gap behind it is one range of the index, so a priority that comes new is found where it
stands.
Locks: the messages; what others have locked is left out.$$;
