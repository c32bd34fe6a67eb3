create or replace function _queue_ready_onward(in_kind text, in_now bigint, in_cursor queue_cursor, out ready boolean,
    out next_at bigint) language plpgsql as $$
begin
    ready := exists (select from delayed_queue d where d.p_kind = in_kind and d.due_at between in_cursor.due and in_now)
        or exists (
            select from unnest(-2147483648::bigint || in_cursor.ranks, 0::bigint || in_cursor.places,
                    in_cursor.ranks || 2147483648) a (rank, place, next_rank),
                lateral (
                    select from delayed_queue q
                    where q.p_kind = in_kind and q.ready_at is not null and q.scheduled_at <= in_now
                        and (-q.priority::integer, q.ready_at, q.entry) >= (a.rank, a.place, 0)
                        and -q.priority::integer < a.next_rank
                    order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit 1) l)
        or exists (
            select from (
                select o.entries from queue_hold o where o.p_kind = in_kind
                    and o.until between in_cursor.hold_from and in_now
                order by o.p_kind, o.until limit 100) h, delayed_queue q
            where q.entry = any (h.entries) and q.reserved_at is not null and q.scheduled_at <= in_now);
    if not ready then
        next_at := least(
            (select d.due_at from delayed_queue d where d.p_kind = in_kind and d.due_at > in_now
                order by d.p_kind, d.due_at limit 1),
            (select h.until from queue_hold h where h.p_kind = in_kind and h.until > in_now
                order by h.p_kind, h.until limit 1));
    end if;
end $$;

comment on function _queue_ready_onward(text, bigint, queue_cursor) is
$$What _queue_ready answers where a scan from the start is slow: what a reserve would find from its cursor on, and holds
by the notes of their ends.
in_kind: the kind, which isn't paused. in_now: the time of the call. in_cursor: the cursor.
Result: ready, and next_at: when the next delayed message falls due, or the next noted hold ends; NULL: none, or
ready.
differs: on MariaDB and MySQL _queue_ready looks from the start.$$;
