-- calls: _queue_line
-- changes: delayed_queue
create or replace function _queue_join_line(in_entries bigint[], in_orders text[]) returns void
    language plpgsql set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_kind record;
    v_headed jsonb;
    v_index text;
begin
    for v_kind in
        select q.p_kind, array_agg(q.entry) as entries, array_agg(o.order_key) as orders
        from unnest(in_entries, in_orders) o (entry, order_key),
            lateral (select e.p_kind, e.entry from delayed_queue e where e.entry = o.entry offset 0) q
        group by q.p_kind order by q.p_kind
    loop
        loop
            begin
                v_headed := _queue_line(v_kind.p_kind, v_kind.orders, null::text[], false, true);
                if v_headed <> '{}' and exists (
                    select from unnest(v_kind.entries, v_kind.orders) o (entry, order_key), lateral (
                        (select h.entry from delayed_queue h
                            where h.p_kind = v_kind.p_kind and h.order_key = o.order_key and h.order_key is not null
                                and h.order_waits is null)
                        union all
                        (select w.entry from delayed_queue w -- BETWEEN: ADR 13
                            where w.p_kind = v_kind.p_kind and w.order_key between o.order_key and o.order_key
                                and w.order_waits
                            order by w.p_kind desc, w.order_key desc, w.entry desc limit 1)) l
                    where v_headed ? o.order_key and l.entry > o.entry)
                then -- the next in a line always has a higher number, so that who ends the first may wait for it
                    raise exception using errcode = 'PQ00A';
                end if;
                update delayed_queue q
                set order_key = n.order_key, order_waits = n.waits, ready_at = case
                    when n.waits is null then q.ready_at end, due_at = case when n.waits is null then q.due_at end
                from (
                    select o.entry, o.order_key, case when v_headed ? o.order_key
                        or row_number() over (partition by o.order_key order by o.entry) > 1 then true end as waits
                    from unnest(v_kind.entries, v_kind.orders) o (entry, order_key)
                    -- who is first is put in in the order of the lines
                    order by o.order_key collate "C", o.entry offset 0) n
                where q.entry between n.entry and n.entry;
                exit;
            exception when unique_violation then
                get stacked diagnostics v_index = constraint_name;
                if v_index <> 'delayed_queue_first' then
                    raise;
                elsif current_setting('transaction_isolation') <> 'read committed' then
                    raise serialization_failure using message
                        = 'could not serialize access due to a concurrent push of the same order key';
                end if; -- else another was put in first: behind that
            end;
        end loop;
    end loop;
end $$;

comment on function _queue_join_line(bigint[], text[]) is
$$Messages that were just put in take their places in the lines of their order keys: at the end, where all but the first
of a line wait. The lines of a kind have to have their first one, see _queue_advance.
in_entries: the messages, which have a place or a date. in_orders: the order key of each.
Errors: PQ00A where a line is locked, or has one with a higher number: the caller undoes what it did, and begins again.
Under REPEATABLE READ and SERIALIZABLE 40001.
Locks: as _queue_line; waits for another transaction that is putting a first one of the same line.$$;
