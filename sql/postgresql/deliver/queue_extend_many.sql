-- calls: _queue_check_seconds, _queue_extend_with_permits, _queue_receipts, _queue_wake, queue_now
-- changes: delayed_queue
create or replace function queue_extend_many(in_receipts jsonb, in_seconds double precision)
    returns table (receipt text, outcome text) language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_receipts record;
    v_outcomes text[];
    v_place bigint;
    v_kind text;
    v_guarded bigint[];
begin
    v_receipts := _queue_receipts(in_receipts);
    perform _queue_check_seconds(in_seconds);
    v_outcomes := array_fill('lost'::text, array[cardinality(v_receipts.receipts)]);
    -- all in the order of their entries, where some name semaphores: those are extended after the others
    perform q.entry from delayed_queue q where q.entry = any (v_receipts.entries) and exists (
        select from unnest(v_receipts.entries) r (entry) join delayed_queue m on m.entry between r.entry and r.entry
            where m.semaphores is not null)
        order by q.entry + 0 for update;
    for v_place, v_kind in
        update delayed_queue q set scheduled_at = v_now + (in_seconds * 1000000)::bigint
        from unnest(v_receipts.entries, v_receipts.secrets, v_receipts.places) r (entry, secret, place)
        where q.entry between r.entry and r.entry and q.secret = r.secret and q.semaphores is null
            and q.reserved_by is not null
        returning r.place, q.p_kind
    loop
        v_outcomes[v_place] := 'extended';
        if in_seconds = 0 then
            perform _queue_wake(v_kind, null);
        end if;
    end loop;
    if v_outcomes @> array['lost'] then
        v_guarded := _queue_extend_with_permits(v_receipts.entries, v_receipts.secrets, in_seconds, v_now);
        foreach v_place in array v_guarded loop
            v_outcomes[v_receipts.places[v_place]] := 'extended';
        end loop;
    end if;
    return query select r.receipt, r.outcome from unnest(v_receipts.receipts, v_outcomes) r (receipt, outcome);
end $$;

comment on function queue_extend_many(jsonb, double precision) is
$$Keeps the holds of many messages: queue_extend for each, in one statement.
in_receipts: a JSON array of at most 10000 receipts; NULL: none. in_seconds: 0 to a year (31536000).
Result: a row a receipt, in their order: receipt, outcome: extended, lost; one that stands twice is lost the second
time.
Errors: PQ005 with the first that is no receipt, PQ001 for seconds; then nothing is extended.
Locks: the messages, in the order of their entries.$$;
