-- calls: _queue_lock_lines
create or replace function _queue_lock_moves(in_entries bigint[], in_secrets bytea[], in_to_kinds text[],
    in_keys text[])
    returns bigint[] language plpgsql as $$
declare
    v_targets bigint[];
begin
    v_targets := array(
        select t.entry
        from unnest(in_entries, in_secrets, in_to_kinds, in_keys) m (entry, secret, to_kind, key)
        join delayed_queue s on s.entry between m.entry and m.entry and s.secret = m.secret
        cross join lateral ( -- OFFSET: ADR 13
            select o.entry from delayed_queue o where o.p_kind = m.to_kind
                and o.p_key = coalesce(m.key, s.p_key) offset 0) t);
    if exists (
        select from unnest(in_entries) e (entry) join delayed_queue s on s.entry between e.entry and e.entry
            where s.order_key is not null) then
        v_targets := v_targets || array( -- who is first where they go
            select t.entry
            from unnest(in_entries, in_to_kinds) m (entry, to_kind)
            join delayed_queue s on s.entry between m.entry and m.entry
            cross join lateral (
                (select h.entry from delayed_queue h
                    where h.p_kind = m.to_kind and h.order_key = s.order_key and h.order_key is not null
                        and h.order_waits is null)
                union all
                (select w.entry from delayed_queue w -- BETWEEN: ADR 13
                    where w.p_kind = m.to_kind and w.order_key between s.order_key and s.order_key and w.order_waits
                    order by w.p_kind, w.order_key, w.entry limit 1)) t);
    end if;
    if cardinality(in_entries) > 1 or v_targets <> '{}' then
        perform _queue_lock_lines(in_entries, v_targets);
    end if;
    return array(
        select m.n
        from unnest(in_entries, in_secrets, in_to_kinds, in_keys) with ordinality m (entry, secret, to_kind, key, n)
        join delayed_queue s on s.entry between m.entry and m.entry and s.secret = m.secret
        order by coalesce(m.key, s.p_key) collate "C", m.to_kind collate "C" nulls first, s.entry);
end $$;

comment on function _queue_lock_moves(bigint[], bytea[], text[], text[]) is
$$Locks what moves need, sources, the messages that have the keys of the targets, and those
before and behind them in the lines of their order keys, in the order of their entries, so that
moves in opposite directions don't deadlock.
in_entries, in_secrets: the receipts, taken apart. in_to_kinds, in_keys: where each goes; key NULL: its own.
Result: the places (from 1) of the moves whose message is there, in the order in which keys are put in everywhere: by
key, then kind. What only ends comes first, for its key is free then.
Locks: as said.$$;
