-- calls: _queue_ack_each, _queue_advance, _queue_check_ack, _queue_lock_lines, _queue_permits_settle,
--     _queue_receipts, _queue_wake_limited, queue_now
-- changes: delayed_queue, queue_count
create or replace function queue_ack_many(in_receipts jsonb, in_options jsonb default null)
    returns table (receipt text, outcome text) language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_receipts record;
    v_outcomes text[]; v_each text[];
    v_kind text; v_entries bigint[]; v_tids tid[];
    v_ordered boolean; v_guarded boolean; v_next bigint[];
begin
    if in_options is null and in_receipts::text ~ '^[[]("[1-9][0-9]*-[0-9a-f]+"(, )?)+[]]$'
        and jsonb_array_length(in_receipts) <= 10000 then
        -- most batches: all are held, once, and nothing but their turns and slots hangs on their end, in one kind
        begin
            select array_agg(left(e.receipt, -33)::bigint) into v_entries
            from jsonb_array_elements_text(in_receipts) e (receipt)
            having bool_and(substr(e.receipt, octet_length(e.receipt) - 32, 1) = '-');
            select min(q.p_kind), count(q.order_key) > 0, count(q.semaphores) > 0 into v_kind, v_ordered, v_guarded
            from delayed_queue q
            where q.entry = any (v_entries)
            having count(*) = cardinality(v_entries) and min(q.p_kind) = max(q.p_kind)
                and sum(num_nonnulls(q.route, q.member)) = 0 and not exists (
                select from queue_kind k where k.p_kind = min(q.p_kind) and (k.history_seconds > 0
                    or k.dedup_seconds > 0 or k.log_seconds > 0));
        exception when invalid_text_representation or numeric_value_out_of_range or invalid_parameter_value then
            null; -- one has too few digits or too many; _queue_receipts says which
        end;
    end if;
    if v_kind is not null then
        -- all are locked before one is deleted: another call may be waiting for its key, and have the next one locked
        if v_ordered then
            v_next := _queue_lock_lines(v_entries, null::bigint[]);
        end if;
        v_tids := array(
            select q.tid
            from (
                select left(e.receipt, -33)::bigint as entry, decode(right(e.receipt, 32), 'hex') as secret
                from jsonb_array_elements_text(in_receipts) e (receipt) order by 1) r, lateral (
                select m.ctid as tid from delayed_queue m
                where m.entry = r.entry and m.secret = r.secret and m.pending is null for update) q);
        if cardinality(v_tids) = jsonb_array_length(in_receipts) then
            with d as (delete from delayed_queue q where q.ctid = any (v_tids) returning q.source_kind)
            insert into queue_count (p_kind, pushed, acked, reserved)
            select v_kind, count(*) - count(d.source_kind), count(*), count(*) from d;
            perform _queue_advance(null::text[], null::text[], v_now, v_next) where v_next <> '{}';
            perform _queue_wake_limited(k.p_kind) from queue_kind k
            where k.p_kind = v_kind and k.max_reserved is not null;
            perform _queue_permits_settle(v_entries, null::text[], true, v_now) where v_guarded;
            return query select e.receipt, 'acked' from jsonb_array_elements_text(in_receipts) e (receipt);
            return;
        end if;
    end if;
    v_receipts := _queue_receipts(in_receipts);
    if in_options is not null then
        perform _queue_check_ack(in_options);
    end if;
    v_each := _queue_ack_each(v_receipts.entries, v_receipts.secrets, in_options, v_now);
    for i in 1 .. cardinality(v_each) loop
        v_outcomes[v_receipts.places[i]] := v_each[i];
    end loop;
    return query select r.receipt, coalesce(r.outcome, 'lost')
        from unnest(v_receipts.receipts, v_outcomes) r (receipt, outcome);
end $$;

comment on function queue_ack_many(jsonb, jsonb) is
$$The work of many messages is done: queue_ack for each, in one statement.
in_receipts: a JSON array of at most 10000 receipts; NULL: none. in_options: as in queue_ack, for each of them.
Result: a row a receipt, in their order: receipt, outcome: acked, moved, duplicate, lost; a receipt that stands twice is
lost the second time.
Errors: PQ005 with the first that is no receipt, and those of queue_ack; then nothing is acked.
Locks: as queue_ack, all in the order of their entries.$$;
