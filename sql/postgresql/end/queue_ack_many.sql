-- calls: _queue_ack_each, _queue_check_ack, _queue_receipts, queue_now
-- changes: delayed_queue, queue_count
create or replace function queue_ack_many(in_receipts jsonb, in_options jsonb default null)
    returns table (receipt text, outcome text) language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
        set enable_sort = off set jit = off as $$
declare
    v_now constant bigint := queue_now();
    v_receipts record;
    v_outcomes text[]; v_each text[];
    v_kind text; v_rows bigint;
begin
    -- most batches: all are held, and plain ones of one plain kind; another is undone and looked at first
    if in_options is null and in_receipts::text ~ '^[[]("[1-9][0-9]*-[0-9a-f]+"(, )?)+[]]$' then
        begin
            select q.p_kind into v_kind from delayed_queue q where q.entry = left(in_receipts ->> 0, -33)::bigint
                and num_nonnulls(q.pending, q.route, q.member, q.order_key, q.semaphores) = 0 and not exists (
                    select from queue_kind k where k.p_kind = q.p_kind and (k.history_seconds > 0
                        or k.dedup_seconds > 0 or k.max_reserved is not null or k.log_seconds > 0));
            if found then
                with r as materialized (
                    select left(e.receipt, -33)::bigint as entry, decode(right(e.receipt, 32), 'hex') as secret
                    from jsonb_array_elements_text(in_receipts) e (receipt) order by 1),
                d as (
                    delete from delayed_queue q using r
                    where q.entry between r.entry and r.entry and q.secret = r.secret and q.p_kind || '' = v_kind and
                        q.pending is null and q.route is null and q.member is null and q.order_key is null and
                        q.semaphores is null returning q.source_kind),
                c as (
                    insert into queue_count (p_kind, pushed, acked, reserved)
                    select v_kind, count(*) - count(d.source_kind), count(*), count(*) from d)
                select count(*) into v_rows from d;
                if v_rows = jsonb_array_length(in_receipts) and v_rows <= 10000 then
                    return query select e.receipt, 'acked' from jsonb_array_elements_text(in_receipts) e (receipt);
                    return;
                end if;
                raise exception using errcode = 'PQ00A';
            end if;
        exception when sqlstate 'PQ00A' or invalid_text_representation or numeric_value_out_of_range
            or invalid_parameter_value then
        end;
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
