-- calls: _queue_check_seconds, _queue_extend_with_permits, _queue_receipt, _queue_wake, queue_now
-- changes: delayed_queue
create or replace function queue_extend(in_receipt text, in_seconds double precision, out receipt text,
    out outcome text)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_receipt record;
    v_kind text;
begin
    v_receipt := _queue_receipt(in_receipt);
    perform _queue_check_seconds(in_seconds);
    update delayed_queue q set scheduled_at = v_now + (in_seconds * 1000000)::bigint
    where q.entry = v_receipt.entry and q.secret = v_receipt.secret and q.semaphores is null
        and q.reserved_by is not null
    returning q.p_kind into v_kind;
    receipt := in_receipt;
    outcome := 'extended';
    if v_kind is null then
        if _queue_extend_with_permits(array[v_receipt.entry], array[v_receipt.secret], in_seconds, v_now) = '{}' then
            outcome := 'lost';
        end if;
    elsif in_seconds = 0 then
        perform _queue_wake(v_kind, null);
    end if;
end $$;

comment on function queue_extend(text, double precision) is
$$Keeps the hold of a message for so long from now; the receipt stays the same.
in_receipt: what queue_reserve answered. in_seconds: 0 to a year (31536000).
Result: receipt, outcome: extended; lost where somebody else has got the message since, or it was acked, moved or
removed; and where its hold has expired and a permit of one of its semaphores is somebody else's, or, in a kind with
max_reserved, its place was wanted.
Errors: PQ005 for what is no receipt, PQ001 for seconds.
Locks: the message.$$;
