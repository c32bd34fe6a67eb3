-- calls: _queue_check_move, _queue_check_roles, _queue_move_many, _queue_receipt, queue_now
create or replace function queue_move(in_receipt text, in_to_kind text, in_options jsonb default null,
    out receipt text, out outcome text) language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_receipt record;
begin
    v_receipt := _queue_receipt(in_receipt);
    perform _queue_check_move(in_to_kind, in_options, v_now, '');
    perform _queue_check_roles(array[in_to_kind]);
    receipt := in_receipt;
    outcome := (_queue_move_many(array[v_receipt.entry], array[v_receipt.secret], array[in_to_kind],
        array[coalesce(nullif(in_options, 'null'), '{}')], v_now))[1];
end $$;

comment on function queue_move(text, text, jsonb) is
$$Moves a message on to the next kind, atomically: it is in one of the two at every instant.
in_receipt: what queue_reserve returned.
in_to_kind: the kind, 1 to 95 characters.
in_options: what changes on the way.
- payload: takes the place of the payload. Allowed: JSON. Default: the payload stays.
- headers: take the place of the headers. Allowed: an object of strings, numbers, booleans and nulls. Default: the
  headers stay.
- key: the key in the new kind. Allowed: 1 to 200 characters. Default: its own key.
- delay_seconds: how long it waits there. Allowed: 0 or more, up to the year 9999. Default: 0.
- priority: its priority there. Allowed: -32768 to 32767. Default: its own priority.
- on_duplicate: what happens where the key is taken there, as in queue_push. Allowed: ignore, replace, keep_time,
  push_back. Default: ignore.
A route of the message stays before it. It waits for its semaphores anew.
Result: receipt, outcome: moved, as a new entry with attempts 0, or with on_duplicate onto the message that has the
key there; duplicate: the key is taken there, the message there stays and this one is removed; lost (see queue_ack).
Errors: PQ007 for a kind that is for others. PQ005 for what is no receipt, PQ001 for to_kind and key, PQ002 for options,
PQ003 for payload and headers, PQ004 for a target that is drained, unless it is the kind itself.
Locks: the message and the one that has its key in the target, in the order of their entries; its semaphores.
Where the idea comes from: Keuss's move-to-queue.$$;
