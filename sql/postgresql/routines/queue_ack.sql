create or replace function queue_ack(in_receipt text, in_options jsonb default null, out receipt text, out outcome text)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
    v_receipt record;
    v_now constant bigint := queue_now();
    v_row delayed_queue;
begin
    v_receipt := _queue_receipt(in_receipt);
    perform _queue_check_options(in_options, '{}');
    receipt := in_receipt;
    delete from delayed_queue q where q.entry = v_receipt.entry and q.secret = v_receipt.secret returning q.* into v_row;
    if not found then
        outcome := 'lost';
        return;
    end if;
    outcome := 'acked';
    insert into queue_count (p_kind, acked) values (v_row.p_kind, 1);
    perform _queue_keep(v_row, 'acked', null, v_now);
    perform _queue_put_pending(v_row, v_now);
end $$;

comment on function queue_ack(text, jsonb) is
$$The work is done: removes the message, and keeps it in queue_history where the kind has history_seconds. What was pushed onto it while it was held is put in now.
in_receipt: what queue_reserve answered. in_options: none yet.
Result: receipt, outcome: acked; lost where somebody else has got the message since, or it was acked, moved or removed.
After the timeout, but before the next delivery, an ack still counts. lost is an answer: nothing has changed.
Errors: PQ005 for what is no receipt, PQ002 for options.
Locks: the message.$$;
