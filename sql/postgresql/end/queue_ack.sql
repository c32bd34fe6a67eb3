-- calls: _queue_ack_many, _queue_advance, _queue_check_ack, _queue_is_receipt, _queue_receipt, _queue_wake_limited,
--     queue_now
-- changes: delayed_queue, queue_count
create or replace function queue_ack(in_receipt text, in_options jsonb default null, out receipt text, out outcome text)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_done record;
    v_receipt record;
begin
    if _queue_is_receipt(in_receipt) is not true then
        perform _queue_receipt(in_receipt);
    elsif in_options is not null then
        perform _queue_check_ack(in_options);
    end if;
    receipt := in_receipt;
    delete from delayed_queue q
    where q.entry = left(in_receipt, -33)::bigint and q.secret = decode(right(in_receipt, 32), 'hex')
        and q.route is null and q.member is null and q.semaphores is null and q.pending is null and in_options is null
        and (
            select k.p_kind from queue_kind k where k.p_kind = q.p_kind
                and (k.history_seconds > 0 or k.dedup_seconds > 0 or k.log_seconds > 0)) is null
    returning q.p_kind, (q.source_kind is null)::integer as pushed, q.order_key, exists (
        select from queue_kind k where k.p_kind = q.p_kind and k.max_reserved is not null) as limited
    into v_done;
    if found then
        outcome := 'acked';
        insert into queue_count (p_kind, pushed, acked, reserved) values (v_done.p_kind, v_done.pushed, 1, 1);
        if v_done.order_key is not null then
            perform _queue_advance(array[v_done.p_kind], array[v_done.order_key], queue_now(), null::bigint[]);
        end if;
        if v_done.limited then
            perform _queue_wake_limited(v_done.p_kind);
        end if;
    else
        v_receipt := _queue_receipt(in_receipt);
        outcome := (_queue_ack_many(array[v_receipt.entry], array[v_receipt.secret], in_options, queue_now()))[1];
    end if;
end $$;

comment on function queue_ack(text, jsonb) is
$$The work is done: removes the message. It is kept in queue_history where the kind has history_seconds. What was pushed
onto it while it was held is put in now.
in_receipt: what queue_reserve returned.
in_options: what came of it, and where it goes.
- result: what came of the work. It is kept in queue_history and given to the group of the message. Allowed: JSON, at
  most 28 levels deep. Default: none.
- to: the kind that the message goes on to. So a consumer can choose. Allowed: a kind, 1 to 95 characters. Default:
  the next kind of its route; without a route the message ends.
- payload: the payload that it goes on with. It is ignored where the message ends here. Allowed: JSON. Default: the
  payload stays.
A message that has a route, see queue_push, moves on to the next kind of that, or to the one of option to instead. The
rest of the route goes with it. Moving on is queue_move: a new entry in the same transaction. A dead letter stays off
its route unless it is redriven: its ack ends it.
Result: receipt, outcome: acked; moved, to the next kind; duplicate: its key is taken there, see queue_move; lost:
somebody else has got the message since, or it was acked, moved or removed. After the timeout, but before the next
delivery, an ack still counts. lost is an answer: nothing has changed.
Errors: PQ007 for a kind that is for others. PQ005 for what is no receipt, PQ001 for to, PQ002 for options, PQ003 for
result and payload, PQ004 where the next kind is drained; then it is still held.
Locks: the message and the next in the line of its order key. Where it goes on, also the first of that line there and
the one that has its key there, in the order of their entries. Its semaphores.
Where the idea comes from: Keuss's pipelines, with their direct, choice and sink links.$$;
