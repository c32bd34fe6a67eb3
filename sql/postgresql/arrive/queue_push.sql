-- calls: _queue_check_payload, _queue_is_heard, _queue_is_huge, _queue_key, _queue_push, _queue_wake, queue_now
-- changes: delayed_queue
create or replace function queue_push(in_kind text, in_key text default null, in_payload jsonb default null,
    in_options jsonb default null, out p_kind text, out p_key text, out scheduled_at bigint, out outcome text)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_key text := in_key;
begin
    if v_key is null then
        v_key := _queue_key(v_now);
    end if;
    if in_options is null and char_length(in_kind) between 1 and 95 and char_length(v_key) between 1 and 200
        and not (jsonb_path_exists(in_payload, '$.**{31}') or _queue_is_huge(in_payload)) then
        -- most pushes: a new key in a kind that asks for nothing more
        insert into delayed_queue (p_kind, p_key, payload, scheduled_at, scheduled_at_initially, created_at, ready_at)
        select in_kind, v_key, in_payload, v_now, v_now, v_now, v_now
        where not exists (
            select from queue_kind k where k.p_kind = in_kind
                and (k.payload_shape is not null or k.dedup_seconds > 0 or k.draining or k.filter_index
                or k.log_seconds > 0 or k.roles is not null))
        on conflict on constraint delayed_queue_pkey do nothing;
        if found then
            p_kind := in_kind; p_key := v_key; scheduled_at := v_now; outcome := 'created';
            if statement_timestamp() > transaction_timestamp() + interval '5 ms' or _queue_is_heard(in_kind) then
                perform _queue_wake(in_kind, v_key);
            end if;
            return;
        end if;
    end if;
    perform _queue_check_payload(in_payload, 'payload');
    select p.* into p_kind, p_key, scheduled_at, outcome
        from _queue_push(in_kind, in_key, in_payload, null::bytea, in_options) p;
end $$;

comment on function queue_push(text, text, jsonb, jsonb) is
$$Puts one message into a kind.
in_kind: the kind, 1 to 95 characters.
in_key: the key, 1 to 200 characters; NULL: a time-ordered UUID. While the kind holds a message of that key, a second
push is no second message. The same is true for dedup_seconds of the kind after that message was acked, popped or
moved away.
in_payload: JSON, at most 31 levels deep, with the fields that payload_shape of the kind wants; NULL: the JSON null.
in_options: what else is to be known.
- delay_seconds: how long the message waits before it may be delivered. Not together with scheduled_at. Allowed: 0 or
  more, up to the year 9999. Default: 0.
- scheduled_at: the time from which it may be delivered. Allowed: microseconds since 1970-01-01 UTC, or ISO 8601 with
  an offset. Default: now.
- priority: a higher priority is delivered first. Allowed: -32768 to 32767. Default: 0.
- headers: data beside the payload. Allowed: an object of strings, numbers, booleans and nulls. Default: none.
- attempts: how many deliveries the message has behind it. Allowed: 0 to 1000000000. Default: 0.
- max_attempts: how many deliveries it may have. Allowed: 1 to 1000000000. Default: max_attempts of the kind.
- on_duplicate: what happens where the key is taken. ignore leaves the message that is there. replace changes its
  content (payload and headers) and its time. keep_time changes the content only. push_back changes the time only,
  which is a debounce. Allowed: ignore, replace, keep_time, push_back. Default: ignore.
- route: the kinds that the message goes through. Each ack moves it to the next one, and the last ack ends it. The
  route stays with a message that is given back, moved, dead or redriven. A push onto its key doesn't change it.
  Allowed: an array of at most 32 kinds. Default: none.
- group: the group that the message becomes a member of, see queue_group. A push that is ignored makes no member.
  Allowed: 1 to 100 characters. Default: none.
- order_key: messages of the kind with the same order key are delivered one at a time, in the order of their pushes,
  whatever their priorities and delivery times. Those behind the first are in the state waiting until it is acked,
  popped, moved, dead or removed; its retries come before them. The order key stays with a message as its route does.
  Where the message moves to, it stands at the end of the line, and so does what was pushed onto it while it was held.
  A dead letter stands in no line. Allowed: 1 to 200 characters. Default: none.
- semaphores: the message is delivered only where it gets a permit of each of them, see queue_semaphore. Until then it
  waits in line. They stay with a message as its route does. Not together with order_key. Allowed: an array of 1 to 8
  names. Default: none.
Result: p_kind, p_key; scheduled_at, microseconds, of the message that is there now, NULL where its key is only
remembered; outcome: created, ignored, replaced, or held: somebody holds the message, so the newest content is kept
and is delivered after the present delivery is done. A hold that has expired is no hold: the message is replaced, with
attempts 0, and the late ack of its holder is lost.
Errors: PQ007 for a kind that is for others. PQ001 for kind and key, PQ002 for options, PQ003 for payload and headers,
PQ004 while the kind is drained, and for a group that has finished.
Locks: the message of that key, where there is one, and its semaphores. The call waits for another transaction that is
putting the same key. With an order_key it locks its line: who wants to end the first of it waits until this transaction
has ended.
Where the idea comes from: INSERT IGNORE on (kind, key), A. Nedelcu's delayed queue.$$;
