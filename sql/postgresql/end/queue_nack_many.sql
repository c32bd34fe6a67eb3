-- calls: _queue_check_nack, _queue_lock_lines, _queue_members_settle, _queue_nack, _queue_permits_settle,
--     _queue_receipts, queue_now
create or replace function queue_nack_many(in_receipts jsonb, in_options jsonb default null)
    returns table (receipt text, outcome text) language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_receipts record;
    v_outcomes text[];
    v_one record;
    v_names text[];
begin
    v_receipts := _queue_receipts(in_receipts);
    perform _queue_check_nack(in_options);
    v_outcomes := array_fill('lost'::text, array[cardinality(v_receipts.receipts)]);
    perform _queue_lock_lines(v_receipts.entries, null::bigint[]);
    for v_one in -- dead letters are put in in the order of their keys, as everywhere
        select r.entry, r.secret, r.place, q.semaphores
            from unnest(v_receipts.entries, v_receipts.secrets, v_receipts.places)
            r (entry, secret, place)
        join delayed_queue q on q.entry between r.entry and r.entry and q.secret = r.secret
        order by q.p_key, q.p_kind
    loop
        v_outcomes[v_one.place] := _queue_nack(v_one.entry, v_one.secret, in_options, v_now);
        v_names := v_names || v_one.semaphores;
    end loop;
    perform _queue_members_settle(v_now);
    perform _queue_permits_settle(v_receipts.entries, v_names, true, v_now)
        where v_names is not null or 'dead' = any (v_outcomes);
    return query select r.receipt, r.outcome from unnest(v_receipts.receipts, v_outcomes) r (receipt, outcome);
end $$;

comment on function queue_nack_many(jsonb, jsonb) is
$$Gives many messages back: queue_nack for each, in one call.
in_receipts: a JSON array of at most 10000 receipts; NULL: none. in_options: those of queue_nack, for all.
Result: a row a receipt, in their order: receipt, outcome: retry, dead, lost; one that stands twice is lost the second
time.
Errors: PQ005 with the first that is no receipt, PQ002 for options, PQ003 for the payload; then nothing is given back.
Locks: as queue_nack, in the order of the entries.$$;
