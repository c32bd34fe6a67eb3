drop procedure if exists queue_reserve;
delimiter $$
create procedure queue_reserve(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_worker text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_max_messages int, in in_options longtext character set utf8mb4)
    comment 'Takes ready messages of a kind, invisible to others until the timeout; who dies gives them back by doing nothing.
in_kind: the kind. in_worker: who takes them, 1 to 200 characters; NULL: login and connection. in_max_messages: how many at
the most, 1 to 10000, NULL: 1. in_options: timeout_seconds (0.001 to a year; default that of the kind, 300); where (a JSON
object, at most 16 values): only messages whose payload or headers contain it, see _queue_where. Without filter_index of the kind
that reads what stands before them.
Result: the columns of the message, times in microseconds, scheduled_at being the end of the hold; and receipt, which names
this delivery and can''t be guessed: what queue_ack, queue_nack, queue_move and queue_extend want; and errors, see queue_get. No row where nothing is
ready or the kind is paused, and fewer where its max_reserved or rate_per_second allow no more. Order: priority, then delivery time, then entry; best effort where several reserve at once.
Strict priority can starve what is low.
A message that names semaphores is taken with a slot of each, or goes to wait in line, see queue_semaphore. A call waits for their
rows where others are taking or giving slots.
A message whose last delivery (max_attempts) has expired, or whose payload is not of its kind (payload_shape), becomes a dead
letter here.
Errors: PQ001 for kind, worker and max_messages, PQ002 for options.
Locks: the messages; what others have locked is passed over, so no call waits for another, but for semaphores. See _queue_take for the rest.
Where the idea comes from: the visibility timeout of SQS; SELECT … FOR UPDATE SKIP LOCKED.'
begin
    declare v_own boolean;
    declare v_tries int default 0;
    declare v_entries longtext character set utf8mb4;
    declare v_entry bigint;
    declare v_seed varchar(64) character set ascii;
    again: loop
        begin
            declare exit handler for 1213, 1020 call _queue_again(v_own, v_tries);
            declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
            call _queue_begin(v_own);
            call _queue_reserve(in_kind, in_worker, in_max_messages, in_options, v_entry, v_entries, v_seed);
            call _queue_commit(v_own);
            leave again;
        end;
    end loop;
    -- by its secret: what was held for a millisecond may be somebody else's now
    if v_entry is null and v_entries is not null then
        select q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at, q.scheduled_at_initially,
            q.created_at, q.reserved_at, q.attempts, q.reserved_by, concat(q.entry, '-', lower(hex(q.secret))) as receipt, q.errors
        from json_table(v_entries, '$[*]' columns (place for ordinality, entry bigint path '$')) j
            straight_join delayed_queue q force index (primary) on q.entry = j.entry
        where q.secret = unhex(left(sha2(concat(v_seed, q.entry), 256), 32))
        order by j.place;
    else -- the most frequent call, without a set
        select q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at, q.scheduled_at_initially,
            q.created_at, q.reserved_at, q.attempts, q.reserved_by, concat(q.entry, '-', lower(hex(q.secret))) as receipt, q.errors
        from delayed_queue q
        where q.entry = v_entry and q.secret = unhex(left(v_seed, 32));
    end if;
end $$
delimiter ;
