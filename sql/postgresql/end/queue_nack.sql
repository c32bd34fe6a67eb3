-- calls: _queue_check_nack, _queue_members_settle, _queue_nack, _queue_permits_settle, _queue_receipt, queue_now
create or replace function queue_nack(in_receipt text, in_options jsonb default null, out receipt text,
    out outcome text)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_names text[];
    v_receipt record;
begin
    v_receipt := _queue_receipt(in_receipt);
    perform _queue_check_nack(in_options);
    receipt := in_receipt;
    select q.semaphores into v_names from delayed_queue q where q.entry = v_receipt.entry;
    outcome := _queue_nack(v_receipt.entry, v_receipt.secret, in_options, v_now);
    if v_names is not null or outcome = 'dead' then
        perform _queue_members_settle(v_now);
        perform _queue_permits_settle(array[v_receipt.entry], v_names, true, v_now);
    end if;
end $$;

comment on function queue_nack(text, jsonb) is
$$Gives a message back for a later try. A nack of the last delivery that it may have (max_attempts) makes it a dead
letter.
in_receipt: what queue_reserve returned.
in_options: why, and until when.
- delay_seconds: how long the message waits. Allowed: 0 to 31536000 (a year). Default: without an error 0; with an
  error the back-off of the kind, which is backoff_seconds * backoff_factor ^ (attempts - 1), at most
  backoff_max_seconds, less up to the share jitter of it at random.
- error: what went wrong. The last ten are kept with the message. Allowed: a text. Default: none, the message didn't
  fail.
- payload: takes the place of the payload. Allowed: JSON. Default: the payload stays.
- final: makes the message a dead letter at once. Allowed: true, false. Default: false.
- count: false means that the delivery doesn't count as an attempt, and that there is no back-off: a snooze, or a
  shutdown. Allowed: true, false. Default: true.
Result: receipt, outcome: retry, dead, lost (see queue_ack). What was pushed onto the message while it was held takes
its place, with the time it asks for.
Errors: PQ005 for what is no receipt, PQ002 for options, PQ003 for the payload.
Locks: the message, and where it dies its key in the dead-letter kind; its semaphores.$$;
