create or replace function queue_ack(in_receipt text, in_options jsonb default null, out receipt text, out outcome text)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
    v_done record;
    v_now bigint;
begin
    if _queue_is_receipt(in_receipt) is not true then
        perform _queue_receipt(in_receipt);
    elsif in_options is not null then
        perform _queue_check_options(in_options, '{}');
    end if;
    receipt := in_receipt;
    outcome := 'lost';
    delete from delayed_queue q
    where q.entry = left(in_receipt, -33)::bigint and q.secret = decode(right(in_receipt, 32), 'hex')
    returning q.p_kind, (q.source_kind is null)::integer as pushed, case when q.pending is not null or exists (
        select from queue_kind k where k.p_kind = q.p_kind and (k.history_seconds > 0 or k.dedup_seconds > 0)) then q end as message
    into v_done;
    if found then
        outcome := 'acked';
        insert into queue_count (p_kind, pushed, acked, reserved) values (v_done.p_kind, v_done.pushed, 1, 1);
        if v_done.message is distinct from null then
            v_now := queue_now();
            perform _queue_keep(v_done.message, 'acked', null, v_now);
            perform _queue_put_pending(v_done.message, v_now);
        end if;
    end if;
end $$;

comment on function queue_ack(text, jsonb) is
$$The work is done: removes the message, and keeps it in queue_history where the kind has history_seconds. What was pushed onto it while it was held is put in now.
in_receipt: what queue_reserve answered. in_options: none yet.
Result: receipt, outcome: acked; lost where somebody else has got the message since, or it was acked, moved or removed.
After the timeout, but before the next delivery, an ack still counts. lost is an answer: nothing has changed.
Errors: PQ005 for what is no receipt, PQ002 for options.
Locks: the message.$$;
