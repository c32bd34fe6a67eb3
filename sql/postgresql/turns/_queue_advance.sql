-- calls: _queue_wake
-- changes: delayed_queue
create or replace function _queue_advance(in_kinds text[], in_orders text[], in_now bigint,
    in_next bigint[]) returns bigint language plpgsql as $$
declare
    v_next bigint[] := in_next;
    v_kinds text[];
    v_rows bigint;
begin
    loop
        if v_next is null then
            v_next := array(
                select n.entry
                from unnest(in_kinds, in_orders) l (p_kind, order_key),
                    lateral (
                        select w.entry from delayed_queue w -- BETWEEN: ADR 13
                        where w.p_kind = l.p_kind and w.order_key between l.order_key and l.order_key and w.order_waits
                        order by w.p_kind, w.order_key, w.entry limit 1) n
                where ( -- not EXISTS: that may be planned as a scan of all lines
                    select h.entry from delayed_queue h
                    where h.p_kind = l.p_kind and h.order_key = l.order_key and h.order_key is not null
                        and h.order_waits is null) is null);
            if v_next = '{}' then
                return 0;
            end if;
            perform q.entry from delayed_queue q where q.entry = any (v_next) order by q.entry + 0 for no key update;
        end if;
        with u as (
            update delayed_queue q
            set order_waits = null, ready_at = case when q.scheduled_at <= in_now then in_now end,
                due_at = case when q.scheduled_at > in_now then q.scheduled_at end
            where q.entry = any (v_next) and coalesce(q.order_waits, false)
            returning q.p_kind)
        select array_agg(distinct u.p_kind), count(*) into v_kinds, v_rows from u;
        perform _queue_wake(k.name, null) from unnest(v_kinds) k (name);
        if v_rows = cardinality(v_next) then
            return v_rows;
        end if;
        v_next := null; -- one was removed in between: then it is the turn of the one behind it
    end loop;
end $$;

comment on function _queue_advance(text[], text[], bigint, bigint[]) is
$$The first of lines have ended, in this transaction: the next of each, that of the lowest entry, gets its place in the
ready line, or its date in the timetable where its delivery time has not come, and who waits for it is woken. What ends
a message that stands in a line calls it.
in_kinds, in_orders: the lines, a kind and an order key each; where there is a first one nothing happens. in_now: the
time of the call. in_next: the next ones, where they are known and locked (see _queue_lock_lines); NULL: they aren't.
Result: how many.
Errors: under REPEATABLE READ and SERIALIZABLE the server's own 40001.
Locks: the next ones, in the order of their entries.$$;
