create or replace function _queue_ready(in_kind text, in_now bigint, out ready boolean, out next_at bigint) language plpgsql as $$
declare
    v_bounds bigint[] := coalesce(nullif(current_setting(_queue_bounds_name(in_kind), true), '')::bigint[],
        _queue_read_hint(in_kind, in_now));
    v_ranks bigint[] := array[-2147483648::bigint];
    v_lows bigint[] := array[0::bigint];
begin
    ready := false;
    if exists (select from queue_kind k where k.p_kind = in_kind and k.paused) then
        return;
    elsif coalesce(v_bounds[4], 0) <= 5000 then
        v_bounds := null; -- a look from the start is fast
    end if;
    for i in 13 .. coalesce(cardinality(v_bounds), 0) by 5 loop
        v_ranks := v_ranks || v_bounds[i];
        v_lows := v_lows || v_bounds[i + 1];
    end loop;
    ready := exists (select from delayed_queue d where d.p_kind = in_kind and d.due_at between coalesce(v_bounds[5], 0) and in_now)
        or exists (
            select from unnest(v_ranks, v_lows, v_ranks[2:] || 2147483648) a (rank, low, next_rank),
                lateral (
                    select from delayed_queue q
                    where q.p_kind = in_kind and q.ready_at is not null and q.scheduled_at <= in_now
                        and (-q.priority::integer, q.ready_at, q.entry) >= (a.rank, a.low, 0)
                        and -q.priority::integer < a.next_rank
                    order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit 1) l)
        or v_bounds is not null and exists (
            select from (
                select o.entries from queue_hold o where o.p_kind = in_kind and o.until between v_bounds[12] and in_now
                order by o.p_kind, o.until limit 100) h, delayed_queue q
            where q.entry = any (h.entries) and q.reserved_at is not null and q.scheduled_at <= in_now);
    if ready then
        return;
    end if;
    next_at := least(
        (select min(d.due_at) from delayed_queue d where d.p_kind = in_kind and d.due_at > in_now),
        (select min(l.scheduled_at) from (
            select q.scheduled_at from delayed_queue q
            where q.p_kind = in_kind and q.ready_at is not null and v_bounds is null
            order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit 100) l),
        (select min(h.until) from queue_hold h where h.p_kind = in_kind and h.until > in_now and v_bounds is not null));
end $$;

comment on function _queue_ready(text, bigint) is
$$Whether a message of a kind may be taken, and if not, when the next may be; nothing is locked.
in_kind: the kind. in_now: the time of the call.
Result: ready: false also while the kind is paused; others may be taking what is there. next_at: when the next delayed message
falls due, or one of the holds that are known of ends: the first 100 in the ready line, or where a scan from there is slow (see
_queue_take), those that queue_hold notes; NULL: none.$$;
