drop procedure if exists queue_push;
delimiter $$
create procedure queue_push(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_key text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_payload longtext character set utf8mb4,
    in in_options longtext character set utf8mb4)
    comment 'Puts one message into a kind.
in_kind: the kind, 1 to 95 characters. in_key: the key, 1 to 200 characters; NULL: a time-ordered UUID. While a message of
that key is in that kind, and for dedup_seconds of the kind after it was acked, popped or moved away, a second push is no
second message. in_payload: JSON, at most 31 levels deep, with the fields that payload_shape of the kind wants; NULL: its null.
in_options: delay_seconds (0 or more) or scheduled_at (microseconds since 1970, or ISO 8601 with an offset): the delivery
time, default now; priority (-32768 to 32767, higher first, default 0); headers (string keys, scalar values); attempts
(deliveries it has behind it, default 0); max_attempts (deliveries it may have, default that of the kind); on_duplicate,
where the key is taken: ignore (the default), replace (content and time), keep_time (content only), push_back (time only: a
debounce), where content is the payload with its headers; route (at most 32 kinds: where each ack moves it on to, and the last one ends it;
it stays with a message that is given back, moved, dead or redriven, and a push onto its key doesn''t change it); group (the name
of a group, see queue_group, of which a message that is created is a member); order_key (1 to 200 characters: the messages
of the kind that have the same one are delivered one at a time, in the order in which they were pushed, whatever their priorities and
delivery times; those behind the first are waiting until that is acked, popped, moved, dead or removed, its retries included. It stays
with a message as its route does: where that moves to, and where what was pushed onto it while it was held is put in, it is the end
of the line; while it is a dead letter it is in none); semaphores (1 to 8 names, see queue_semaphore: it is delivered only where it
gets a slot of each, and waits in line until then; like a route they stay with it, and a push onto its key doesn''t change them; not together with order_key).
Result: p_kind, p_key; scheduled_at, microseconds, of the message that is there now, NULL where its key is only remembered;
outcome: created, ignored, replaced, or
held: somebody holds the message, the newest is kept and delivered once that delivery is done. An expired hold is none: the
message is replaced, with attempts 0, and the late ack of its holder is lost.
Errors: PQ001 for kind and key, PQ002 for options, PQ003 for payload and headers, PQ004 while the kind is drained,
and for a group that has finished.
Locks: none but the message of that key, and its semaphores; waits for another transaction that is putting the same key. With an order_key
the first of its line and the one behind it: who wants to end that waits until this transaction has ended.
Where the idea comes from: INSERT IGNORE on (kind, key), A. Nedelcu''s delayed queue.'
begin
    declare v_own boolean;
    declare v_tries int default 0;
    declare v_key text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_scheduled_at bigint;
    declare v_outcome varchar(10) character set utf8mb4;
    again: loop
        begin
            declare exit handler for 1213, 1020 call _queue_again(v_own, v_tries);
            declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
            call _queue_begin(v_own);
            call _queue_check_payload(in_payload, 'payload');
            call _queue_push(in_kind, in_key, in_payload, null, in_options, v_key, v_scheduled_at, v_outcome);
            call _queue_commit(v_own);
            leave again;
        end;
    end loop;
    select in_kind as p_kind, v_key as p_key, v_scheduled_at as scheduled_at, v_outcome as outcome;
end $$
delimiter ;
