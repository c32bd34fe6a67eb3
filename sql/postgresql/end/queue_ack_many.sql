-- calls: _queue_ack_each, _queue_advance, _queue_check_ack, _queue_history_row, _queue_lock_lines, _queue_log_ended,
--     _queue_put_pending, _queue_receipts, _queue_wake_limited, queue_now
-- changes: delayed_queue, queue_count, queue_dedup, queue_history
create or replace function queue_ack_many(in_receipts jsonb, in_options jsonb default null)
    returns table (receipt text, outcome text) language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
        set jit = off as $$
declare
    v_now constant bigint := queue_now();
    v_keeps boolean;
    v_receipts record;
    v_outcomes text[];
    v_each text[];
    v_done record;
    v_place bigint;
    v_row delayed_queue;
begin
    v_receipts := _queue_receipts(in_receipts);
    if in_options is not null then
        perform _queue_check_ack(in_options);
    end if;
    v_outcomes := array_fill('lost'::text, array[cardinality(v_receipts.receipts)]);
    select min(q.p_kind) as first, max(q.p_kind) as last, bool_or(num_nonnulls(q.route, q.member, q.semaphores) > 0)
        or in_options is not null as each, bool_or(q.order_key is not null) as ordered
    into v_done from delayed_queue q where q.entry = any (v_receipts.entries);
    if v_done.each then
        v_each := _queue_ack_each(v_receipts.entries, v_receipts.secrets, in_options, v_now);
        for i in 1 .. cardinality(v_each) loop
            v_outcomes[v_receipts.places[i]] := v_each[i];
        end loop;
        return query select r.receipt, r.outcome from unnest(v_receipts.receipts, v_outcomes) r (receipt, outcome);
        return;
    end if;
    if v_done.first <> v_done.last or v_done.ordered then
        -- to wait for a message with another deleted already, whose key a dead letter may be waiting for, could be a
        -- deadlock
        perform _queue_lock_lines(v_receipts.entries, null::bigint[]);
    end if;
    v_keeps := exists (
        select from queue_kind k where k.p_kind between v_done.first and v_done.last
            and (k.history_seconds > 0 or k.dedup_seconds > 0 or k.max_reserved is not null or k.log_seconds > 0));
    if v_keeps then
        with d as (
            delete from delayed_queue q using unnest(v_receipts.entries, v_receipts.secrets,
                v_receipts.places) r (entry, secret, place)
            where q.entry between r.entry and r.entry and q.secret = r.secret
            returning r.place, q.p_kind, q.p_key, q.entry, q.source_kind, q.order_key, q as message),
        c as (
            insert into queue_count (p_kind, pushed, acked, reserved)
            select d.p_kind, count(*) - count(d.source_kind), count(*), count(*) from d group by d.p_kind),
        h as (
            insert into queue_history
            select e.* from d join queue_kind k on k.p_kind = d.p_kind
                and k.history_seconds > 0, _queue_history_row(d.message, 'acked', null, v_now) e),
        m as (
            insert into queue_dedup (p_kind, p_key, ended_at)
            select d.p_kind, d.p_key, v_now from d join queue_kind k on k.p_kind = d.p_kind and k.dedup_seconds > 0
            order by 2, 1 on conflict on constraint queue_dedup_pkey do update set ended_at = excluded.ended_at)
        select array_agg(d.place) as places,
            array_agg(d.message) filter (where (d.message).pending is not null) as again,
            array_agg(d.p_kind) filter (where d.order_key is not null) as of_orders,
            array_agg(d.order_key) filter (where d.order_key is not null) as orders, array_agg(d.p_kind) as kinds,
            array_agg(d.p_key) as keys, array_agg(d.entry) as entries
        into v_done from d;
    else -- the same without what is kept, which costs a tenth where there is nothing of it
        with d as (
            delete from delayed_queue q using unnest(v_receipts.entries, v_receipts.secrets,
                v_receipts.places) r (entry, secret, place)
            where q.entry between r.entry and r.entry and q.secret = r.secret
            returning r.place, q.p_kind, q.source_kind, q.order_key, case
                when q.pending is not null then q end as message),
        c as (
            insert into queue_count (p_kind, pushed, acked, reserved)
            select d.p_kind, count(*) - count(d.source_kind), count(*), count(*) from d group by d.p_kind)
        select array_agg(d.place) as places,
            array_agg(d.message) filter (where (d.message).pending is not null) as again,
            array_agg(d.p_kind) filter (where d.order_key is not null) as of_orders,
            array_agg(d.order_key) filter (where d.order_key is not null) as orders
        into v_done from d;
    end if;
    if v_done.of_orders is not null then
        perform _queue_advance(v_done.of_orders, v_done.orders, v_now);
    end if;
    if v_keeps then
        perform _queue_log_ended(v_done.kinds, v_done.keys, v_done.entries, 'acked', null, v_now);
        perform _queue_wake_limited(k.p_kind) from queue_kind k
            where k.p_kind = any (v_done.kinds) and k.max_reserved is not null;
    end if;
    if cardinality(v_done.places) = cardinality(v_outcomes) then
        v_outcomes := array_fill('acked'::text, array[cardinality(v_outcomes)]);
    else
        foreach v_place in array coalesce(v_done.places, '{}') loop
            v_outcomes[v_place] := 'acked';
        end loop;
    end if;
    foreach v_row in array coalesce(v_done.again, '{}') loop
        perform _queue_put_pending(v_row, v_now);
    end loop;
    return query select r.receipt, r.outcome from unnest(v_receipts.receipts, v_outcomes) r (receipt, outcome);
end $$;

comment on function queue_ack_many(jsonb, jsonb) is
$$The work of many messages is done: queue_ack for each, in one statement.
in_receipts: a JSON array of at most 10000 receipts; NULL: none. in_options: as in queue_ack, for each of them.
Result: a row a receipt, in their order: receipt, outcome: acked, moved, duplicate, lost; a receipt that stands twice is
lost the second time.
Errors: PQ005 with the first that is no receipt, and those of queue_ack; then nothing is acked.
Locks: as queue_ack, all in the order of their entries.$$;
