-- changes: delayed_queue
create or replace function _queue_line(in_kind text, in_orders text[], in_keys text[], in_changes boolean,
    in_again boolean)
    returns jsonb language plpgsql set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_line bigint[];
    v_headed jsonb;
    v_alone bigint[];
    v_heads bigint[];
begin
    v_line := array(
        select e.entry
        from (select distinct u.order_key from unnest(in_orders) u (order_key)) o,
            lateral (
                (select h.entry from delayed_queue h
                    where h.p_kind = in_kind and h.order_key = o.order_key and h.order_key is not null
                        and h.order_waits is null)
                union all
                (select w.entry from delayed_queue w -- BETWEEN: ADR 13
                    where w.p_kind = in_kind and w.order_key between o.order_key and o.order_key and w.order_waits
                    order by w.p_kind, w.order_key, w.entry limit 1)) e);
    if v_line = '{}' and not in_changes then
        return '{}';
    elsif in_keys is not null then
        -- to wait for one of the keys with a row locked could be a deadlock with who ends both
        v_line := v_line || array(
            select k.entry
            from unnest(in_keys) n (name), lateral ( -- one by one: as a join it may be planned as a scan of the kind
                select q.entry from delayed_queue q where q.p_kind = in_kind and q.p_key = n.name limit 1) k);
    end if;
    if in_changes then
        perform q.entry from delayed_queue q where q.entry = any (v_line) order by q.entry + 0 for update;
    elsif in_again then -- whoever has locked a first one needs nobody behind it
        v_heads := array(select q.entry from delayed_queue q where q.entry = any (v_line) and q.order_waits is null);
        v_line := array(select q.entry from delayed_queue q
            where q.entry = any (v_heads) for no key update skip locked);
        if cardinality(v_line) < cardinality(v_heads) then
            raise exception using errcode = 'PQ00A';
        end if;
    end if;
    select coalesce(jsonb_object_agg(l.order_key, 0), '{}'),
        array_agg(l.head) filter (where not l.waits or current_setting('transaction_isolation') <> 'read committed')
    into v_headed, v_alone
    from (
        select k.order_key, max(k.entry) filter (where k.order_waits is null) as head, bool_or(k.order_waits is true)
            or in_again and exists (
                select from delayed_queue w
                where w.p_kind = in_kind and w.order_key between k.order_key and k.order_key and w.order_waits) as waits
        from (
            select q.entry, q.order_key, q.order_waits from delayed_queue q
            where q.entry = any (v_line) order by q.entry + 0 for no key update) k
        where k.order_key is not null
        group by k.order_key) l
    where l.head is not null;
    if v_alone is not null then
        -- nothing changes, but who ends the first with a snapshot that can't see what comes behind it gets the server's
        -- 40001
        update delayed_queue q set order_key = q.order_key where q.entry = any (v_alone);
    end if;
    return v_headed;
end $$;

comment on function _queue_line(text, text[], text[], boolean, boolean) is
$$Locks the lines that something is to be put behind, so that nobody ends the first of one, and goes without the new
one, until this transaction ends.
in_kind: the kind. in_orders: order keys. in_keys: the keys that are to be put in; NULL: they are in
already. in_changes: whether messages that have such a key are to be changed. in_again: true: what others have locked is
PQ00A, on which the caller undoes what it did and begins again, since to wait with keys put in could be a deadlock.
Result: an object with 0 for each that has a first one.
Locks: the first of each line, and but for in_again the one behind it, with in_keys the messages of these keys too, in
the order of their entries: a reserve passes such a first one over until then.
Errors: under REPEATABLE READ and SERIALIZABLE the server's own 40001.
differs: MariaDB and MySQL have a row a line in queue_order, since their locking reads see what is committed.$$;
