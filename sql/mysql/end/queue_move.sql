-- calls: _queue_check_move, _queue_check_roles, _queue_lock_moves, _queue_move, _queue_receipt, _queue_text,
--     queue_now
create procedure queue_move(in in_receipt text, in in_to_kind text collate exact, in in_options longtext)
    comment 'Moves a message on to the next kind, atomically: it is in one of the two at every instant.
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
Where the idea comes from: Keuss''s move-to-queue.'
begin
    declare v_now, v_entry bigint;
    declare v_secret binary(16);
    declare v_key text collate exact;
    declare v_outcome varchar(10);
    begin atomic
        call queue_now(v_now);
        call _queue_receipt(in_receipt, v_entry, v_secret);
        call _queue_check_move(in_to_kind, in_options, v_now, '');
        call _queue_check_roles(json_array(in_to_kind));
        call _queue_text(in_options, 'key', v_key);
        call _queue_lock_moves(json_array(json_array(v_entry + 0, lower(hex(v_secret)), 1)), null, in_to_kind, v_key);
        call _queue_move(v_entry, v_secret, in_to_kind, in_options, v_now, v_outcome);
    end atomic;
    select in_receipt as receipt, v_outcome as outcome;
end;
