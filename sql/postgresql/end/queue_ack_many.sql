-- calls: _queue_ack_each, _queue_check_ack, _queue_end, _queue_lock_lines, _queue_put_pending, _queue_receipts,
--     queue_now
-- changes: delayed_queue, queue_count
create or replace function queue_ack_many(in_receipts jsonb, in_options jsonb default null)
    returns table (receipt text, outcome text) language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
        set enable_sort = off set jit = off as $$
declare
    v_now constant bigint := queue_now();
    v_receipts record;
    v_look record;
    v_outcomes text[];
    v_each text[];
    v_done record;
    v_places bigint[];
    v_place bigint;
    v_row delayed_queue;
begin
    v_receipts := _queue_receipts(in_receipts);
    if in_options is not null then
        perform _queue_check_ack(in_options);
    end if;
    v_outcomes := array_fill('lost'::text, array[cardinality(v_receipts.receipts)]);
    select min(q.p_kind) as first, max(q.p_kind) as last, bool_or(q.order_key is not null) as ordered,
        in_options is not null or bool_or(num_nonnulls(q.route, q.member, q.semaphores) > 0) as onward
    into v_look from delayed_queue q where q.entry = any (v_receipts.entries);
    if v_look.onward then
        v_each := _queue_ack_each(v_receipts.entries, v_receipts.secrets, in_options, v_now);
        for i in 1 .. cardinality(v_each) loop
            v_outcomes[v_receipts.places[i]] := v_each[i];
        end loop;
        return query select r.receipt, r.outcome from unnest(v_receipts.receipts, v_outcomes) r (receipt, outcome);
        return;
    end if;
    if v_look.first <> v_look.last or v_look.ordered and cardinality(v_receipts.entries) > 1 then
        -- to wait for a message with another deleted already, whose key a dead letter may be waiting for, could be a
        -- deadlock
        perform _queue_lock_lines(v_receipts.entries, null::bigint[]);
    end if;
    if v_look.ordered or exists (
        select from queue_kind k where k.p_kind between v_look.first and v_look.last
            and (k.history_seconds > 0 or k.dedup_seconds > 0 or k.max_reserved is not null or k.log_seconds > 0))
    then
        v_places := array(
            select v_receipts.places[e.place] from unnest((_queue_end(v_receipts.entries, v_receipts.secrets, 'acked',
                null::text, v_now)).places) e (place));
    else -- the same for what is plain, which costs a tenth less
        with d as (
            delete from delayed_queue q using unnest(v_receipts.entries, v_receipts.secrets,
                v_receipts.places) r (entry, secret, place)
            where q.entry between r.entry and r.entry and q.secret = r.secret
            returning r.place, q.p_kind, q.source_kind, case when q.pending is not null then q end as message),
        c as (
            insert into queue_count (p_kind, pushed, acked, reserved)
            select d.p_kind, count(*) - count(d.source_kind), count(*), count(*) from d group by d.p_kind)
        select array_agg(d.place) as places,
            array_agg(d.message) filter (where (d.message).pending is not null) as again
        into v_done from d;
        v_places := coalesce(v_done.places, '{}');
        foreach v_row in array coalesce(v_done.again, '{}') loop
            perform _queue_put_pending(v_row, v_now);
        end loop;
    end if;
    if cardinality(v_places) = cardinality(v_outcomes) then
        v_outcomes := array_fill('acked'::text, array[cardinality(v_outcomes)]);
    else
        foreach v_place in array v_places loop
            v_outcomes[v_place] := 'acked';
        end loop;
    end if;
    return query select r.receipt, r.outcome from unnest(v_receipts.receipts, v_outcomes) r (receipt, outcome);
end $$;

comment on function queue_ack_many(jsonb, jsonb) is
$$The work of many messages is done: queue_ack for each, in one statement.
in_receipts: a JSON array of at most 10000 receipts; NULL: none. in_options: as in queue_ack, for each of them.
Result: a row a receipt, in their order: receipt, outcome: acked, moved, duplicate, lost; a receipt that stands twice is
lost the second time.
Errors: PQ005 with the first that is no receipt, and those of queue_ack; then nothing is acked.
Locks: as queue_ack, all in the order of their entries.$$;
