create or replace function _queue_with_next(in_entries bigint[]) returns bigint[] language plpgsql stable as $$
begin
    return in_entries || array(
        select n.entry
        from unnest(in_entries) e (entry) join delayed_queue q on q.entry between e.entry and e.entry
            and q.order_key is not null, lateral (
                select w.entry from delayed_queue w -- BETWEEN: ADR 13
                where w.p_kind = q.p_kind and w.order_key between q.order_key and q.order_key and w.order_waits
                order by w.p_kind, w.order_key, w.entry limit 1) n);
end $$;

comment on function _queue_with_next(bigint[]) is
$$What has to be locked to end messages: they, and those that come next in the lines of their order keys.
in_entries: the messages.
Result: the entries.
differs: only here, see _queue_lock_lines.$$;
