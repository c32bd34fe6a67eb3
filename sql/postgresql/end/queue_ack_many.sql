-- calls: _queue_ack_many, _queue_advance, _queue_check_ack, _queue_lock_lines, _queue_permits_settle,
--     _queue_receipts, _queue_savepoint, _queue_wake_limited, queue_now
-- changes: delayed_queue, queue_count
create or replace function queue_ack_many(in_receipts jsonb, in_options jsonb default null)
    returns table (receipt text, outcome text) language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off set enable_bitmapscan = off as $$
declare
    v_now constant bigint := queue_now();
    v_timeout constant text := current_setting('lock_timeout');
    v_given text[]; v_entries bigint[];
    v_kind text; v_ordered boolean; v_guarded boolean; v_limited boolean;
    v_next bigint[]; v_gone text[]; v_dead bigint; v_done boolean;
    v_receipts record; v_outcomes text[]; v_each text[];
begin
    -- most batches: all are held, once, and nothing but their turns and slots hangs on their end, in one kind
    begin
        if in_options is null and jsonb_array_length(in_receipts) <= 10000 then
            select array_agg(r.receipt), array_agg(r.entry) into v_given, v_entries
            from (
                select e.receipt, left(e.receipt, -33)::bigint as entry
                from jsonb_array_elements_text(in_receipts) e (receipt) order by 2) r;
            select q.p_kind, q.order_key is not null, q.semaphores is not null, exists (
                select from queue_kind k where k.p_kind = q.p_kind and k.max_reserved is not null)
            into v_kind, v_ordered, v_guarded, v_limited
            from delayed_queue q
            where q.entry = v_entries[1] and (
                select k.p_kind from queue_kind k where k.p_kind = q.p_kind
                    and (k.history_seconds > 0 or k.dedup_seconds > 0 or k.log_seconds > 0)) is null;
        end if;
        if v_kind is not null and _queue_savepoint() then
            v_next := case when v_ordered then _queue_lock_lines(v_entries, null::bigint[]) else '{}' end;
            -- a call may be waiting for the key of one that is gone, and have the next one locked
            perform set_config('lock_timeout', '10', true);
            with d as (
                delete from delayed_queue q
                where q.entry = any (v_entries) and q.p_kind || '' = v_kind and q.pending is null and q.route is null
                    and q.member is null and (v_ordered or q.order_key is null)
                    and (v_guarded or q.semaphores is null)
                returning q.entry || '-' || encode(q.secret, 'hex') as receipt, q.source_kind)
            select array_agg(d.receipt), count(d.source_kind) into v_gone, v_dead from d;
            perform set_config('lock_timeout', v_timeout, true);
            v_done := v_gone = v_given;
            if v_done is not true then
                raise exception using errcode = 'PQ00A';
            end if;
        end if;
    -- all of it is undone; what has another form is for _queue_receipts to name
    exception when sqlstate 'PQ00A' or deadlock_detected or lock_not_available or invalid_text_representation
        or numeric_value_out_of_range or invalid_parameter_value then
        if sqlstate = '55P03' and v_next is null then
            raise;
        end if;
    end;
    if v_done then
        insert into queue_count (p_kind, pushed, acked, reserved)
        select v_kind, n - v_dead, n, n from cardinality(v_gone) n;
        if v_next <> '{}' then
            perform _queue_advance(null::text[], null::text[], v_now, v_next);
        end if;
        if v_limited then
            perform _queue_wake_limited(v_kind);
        end if;
        if v_guarded then
            perform _queue_permits_settle(v_entries, null::text[], true, v_now);
        end if;
        return query select e.receipt, 'acked' from jsonb_array_elements_text(in_receipts) e (receipt);
        return;
    end if;
    v_receipts := _queue_receipts(in_receipts);
    if in_options is not null then
        perform _queue_check_ack(in_options);
    end if;
    v_each := _queue_ack_many(v_receipts.entries, v_receipts.secrets, in_options, v_now);
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
