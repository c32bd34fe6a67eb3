create or replace function queue_ack_many(in_receipts jsonb, in_options jsonb default null)
    returns table (receipt text, outcome text) language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
    v_receipts record;
    v_outcomes text[];
    v_done record;
begin
    v_receipts := _queue_receipts(in_receipts);
    perform _queue_check_options(in_options, '{}');
    v_outcomes := array_fill('lost'::text, array[cardinality(v_receipts.receipts)]);
    for v_done in
        with d as (
            delete from delayed_queue q
            using unnest(v_receipts.entries, v_receipts.secrets, v_receipts.places) r (entry, secret, place)
            where q.entry = r.entry and q.secret = r.secret
            returning r.place, q.p_kind, case when q.pending is not null then q end as again),
        c as (
            insert into queue_count (p_kind, acked) select d.p_kind, count(*) from d group by d.p_kind)
        select d.place, d.again from d
    loop
        v_outcomes[v_done.place] := 'acked';
        if v_done.again is distinct from null then
            perform _queue_put_pending(v_done.again, queue_now());
        end if;
    end loop;
    return query select r.receipt, r.outcome from unnest(v_receipts.receipts, v_outcomes) r (receipt, outcome);
end $$;

comment on function queue_ack_many(jsonb, jsonb) is
$$The work of many messages is done: queue_ack for each, in one statement.
in_receipts: a JSON array of at most 10000 receipts. in_options: none yet.
Result: a row a receipt, in their order: receipt, outcome: acked, lost; a receipt that stands twice is lost the second time.
Errors: PQ005 with the first that is no receipt, PQ002 for options; then nothing is acked.
Locks: the messages, in the order of their entries.$$;
