-- calls: _queue_find_terms, _queue_terms
-- changes: delayed_queue
create or replace function _queue_take_where(in_kind queue_kind, in_max integer, in_now bigint, in_where jsonb,
    out tids tid[], out expired bigint, out ends bigint, out slow boolean) language plpgsql as $$
declare
    v_terms bigint[];
    v_due tid[];
    v_found tid[];
begin
    slow := exists (select from queue_cursor c where c.p_kind = in_kind.p_kind);
    if in_kind.filter_index then
        v_terms := _queue_terms(in_kind.p_kind, in_where);
    end if;
    if v_terms <> '{}' then
        v_found := _queue_find_terms(in_kind.p_kind, in_max, in_now, in_where, v_terms);
        v_due := array(select q.ctid from delayed_queue q where q.ctid = any (v_found) and q.due_at + 0 is not null
            order by q.due_at + 0, q.entry);
    else
        -- what has come due and is asked for, and as much of it, goes into the line first
        v_due := array(
            select d.ctid from delayed_queue d
            where d.p_kind = in_kind.p_kind and d.due_at between 0 and in_now
                and (d.payload @> in_where or d.headers @> in_where)
            order by d.p_kind, d.due_at limit 1000);
        if v_due <> '{}' then
            v_due := array(
                select d.ctid from delayed_queue d
                where d.ctid = any (v_due) and d.p_kind || '' = in_kind.p_kind and d.due_at + 0 <= in_now
                order by d.priority desc, d.due_at, d.entry limit in_max for update skip locked);
        end if;
    end if;
    if v_due <> '{}' then
        with u as ( -- as in _queue_promote
            update delayed_queue q
            set ready_at = greatest(q.due_at, case when slow then in_now - 1000000 + t.place else 0 end), due_at = null
            from unnest(v_due) with ordinality t (tid, place) where q.ctid = t.tid returning q.ctid as tid)
        select array(select f.tid from unnest(v_found) f (tid) where f.tid <> all (v_due)) || array_agg(u.tid)
        into v_found from u;
    end if;
    if v_terms is null or v_terms = '{}' then
        v_found := array(
            select q.ctid from delayed_queue q
            where q.p_kind = in_kind.p_kind and q.ready_at is not null and q.scheduled_at <= in_now
                and case when q.pending ? 'content' then q.pending -> 'payload' @> in_where
                    or q.pending -> 'headers' @> in_where else q.payload @> in_where or q.headers @> in_where end
            order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit in_max for update skip locked);
    end if;
    select array_agg(t.tid order by -q.priority::integer, q.ready_at, q.entry), count(q.reserved_at),
        count(*) filter (where q.pending is not null or q.semaphores is not null
            or q.attempts >= coalesce(q.max_attempts, in_kind.max_attempts, 2147483647))
    into tids, expired, ends
    from unnest(v_found) t (tid), lateral (select m.* from delayed_queue m where m.ctid = t.tid offset 0) q;
end $$;

comment on function _queue_take_where(queue_kind, integer, bigint, jsonb) is
$$The next messages of a kind that a filter matches, in the order of delivery, locked: what _queue_take does for calls
without one. It neither uses nor changes the cursor of the session.
in_kind: the settings of the kind. in_max: how many. in_now: the time of the call. in_where: the filter, see
_queue_where.
Result: as of _queue_take.
Without a filter_index, or where the filter has nothing but empty objects and arrays, the ready line is read from its
beginning until in_max match, and all that has come due: as many messages as stand before them. With it see
_queue_find_terms.
What was pushed onto a hold that has expired may match: such a message is taken, to be ended and make room for that.
Locks: the messages; what others have locked is passed over.$$;
