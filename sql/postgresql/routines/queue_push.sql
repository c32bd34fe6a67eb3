create or replace function queue_push(in_kind text, in_key text default null, in_payload jsonb default null,
    in_options jsonb default null, out p_kind text, out p_key text, out scheduled_at bigint, out outcome text)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
    v_now constant bigint := queue_now();
    v_key text := in_key;
begin
    if v_key is null then
        v_key := _queue_key(v_now);
    end if;
    if in_options is null and char_length(in_kind) between 1 and 95 and char_length(v_key) between 1 and 200
        and not jsonb_path_exists(in_payload, '$.**{31}') then
        -- most pushes: a new key in a kind that asks for nothing more
        insert into delayed_queue (p_kind, p_key, payload, scheduled_at, scheduled_at_initially, created_at, ready_at)
        select in_kind, v_key, in_payload, v_now, v_now, v_now, v_now
        where not exists (
            select from queue_kind k where k.p_kind = in_kind and (k.payload_shape is not null or k.dedup_seconds > 0 or k.draining or k.filter_index
                or k.log_seconds > 0))
        on conflict on constraint delayed_queue_pkey do nothing
        returning delayed_queue.p_kind, delayed_queue.p_key, delayed_queue.scheduled_at, 'created'::text
        into p_kind, p_key, scheduled_at, outcome;
        if found then
            if statement_timestamp() > transaction_timestamp() + interval '5 ms' or _queue_is_heard(in_kind) then
                perform _queue_wake(in_kind, v_key);
            end if;
            return;
        end if;
    end if;
    perform _queue_check_payload(in_payload, 'payload');
    select p.* into p_kind, p_key, scheduled_at, outcome from _queue_push(in_kind, in_key, in_payload, null::bytea, in_options) p;
end $$;

comment on function queue_push(text, text, jsonb, jsonb) is
$$Puts one message into a kind.
in_kind: the kind, 1 to 95 characters. in_key: the key, 1 to 200 characters; NULL: a time-ordered UUID. While a message of
that key is in that kind, and for dedup_seconds of the kind after it was acked, popped or moved away, a second push is no
second message. in_payload: JSON, at most 31 levels deep, with the fields that payload_shape of the kind wants; NULL: its null.
in_options: delay_seconds (0 or more) or scheduled_at (microseconds since 1970, or ISO 8601 with an offset): the delivery
time, default now; priority (-32768 to 32767, higher first, default 0); headers (string keys, scalar values); attempts
(deliveries it has behind it, default 0); max_attempts (deliveries it may have, default that of the kind); on_duplicate,
where the key is taken: ignore (the default), replace (content and time), keep_time (content only), push_back (time only: a
debounce), where content is the payload with its headers; route (at most 32 kinds: where each ack moves it on to, and the last one ends it;
it stays with a message that is given back, moved, dead or redriven, and a push onto its key doesn't change it); group (the name
of a group, see queue_group, of which a message that is created is a member); order_key (1 to 200 characters: the messages
of the kind that have the same one are delivered one at a time, in the order in which they were pushed, whatever their priorities and
delivery times; those behind the first are waiting until that is acked, popped, moved, dead or removed, its retries included. It stays
with a message as its route does: where that moves to, and where what was pushed onto it while it was held is put in, it is the end
of the line; while it is a dead letter it is in none); semaphores (1 to 8 names, see queue_semaphore: it is delivered only where it
gets a slot of each, and waits in line until then; like a route they stay with it, and a push onto its key doesn't change them; not together with order_key).
Result: p_kind, p_key; scheduled_at, microseconds, of the message that is there now, NULL where its key is only remembered;
outcome: created, ignored, replaced, or
held: somebody holds the message, the newest is kept and delivered once that delivery is done. An expired hold is none: the
message is replaced, with attempts 0, and the late ack of its holder is lost.
Errors: PQ001 for kind and key, PQ002 for options, PQ003 for payload and headers, PQ004 while the kind is drained,
and for a group that has finished.
Locks: none but the message of that key, and its semaphores; waits for another transaction that is putting the same key. With an order_key
the first of its line and the one behind it: who wants to end that waits until this transaction has ended.
Where the idea comes from: INSERT IGNORE on (kind, key), A. Nedelcu's delayed queue.$$;
