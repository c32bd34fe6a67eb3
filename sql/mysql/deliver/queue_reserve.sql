-- calls: _queue_answer, _queue_reserve
create procedure queue_reserve(in in_kind text collate exact, in in_worker text collate exact, in in_max_messages int,
    in in_options longtext)
    comment 'Takes ready messages of a kind. Nobody else gets them until their timeout has passed. If the consumer dies,
the messages come back by themselves.
in_kind: the kind.
in_worker: who takes them, 1 to 200 characters; NULL: login and connection.
in_max_messages: how many at the most, 1 to 10000; NULL: 1.
in_options: how to take them.
- timeout_seconds: how long the hold lasts. Allowed: 0.001 to 31536000 (a year). Default: timeout_seconds of the kind,
  300.
- where: takes only messages whose payload or headers contain this object, see _queue_where. Without filter_index of
  the kind the call reads the messages that stand before them. Allowed: an object of at most 16 values. Default: all
  messages.
Result: the columns of the message, times in microseconds. scheduled_at is the end of the hold. receipt names this
delivery and can''t be guessed: queue_ack, queue_nack, queue_move and queue_extend want it. errors: see queue_get. No
row where nothing is ready or the kind is paused; fewer rows where max_reserved or rate_per_second of the kind allow
no more. Order: priority, then delivery time, then entry. Where several consumers reserve at once, that order is best
effort. High priorities can keep low ones waiting without an end. A message that names semaphores is taken with a permit
of each, or goes to wait in line, see queue_semaphore. A call waits for their rows where others are taking or giving
permits. A message becomes a dead letter here if its last delivery (max_attempts) has expired, or if its payload is not
of its kind (payload_shape).
Errors: PQ007 for a kind that is for others. PQ001 for kind, worker and max_messages, PQ002 for options.
Locks: the messages. The call passes over what others have locked, so no call waits for another, but for semaphores.
See _queue_take for the rest, and _queue_admit for what a kind with limits locks before.
Where the idea comes from: the visibility timeout of SQS; SELECT … FOR UPDATE SKIP LOCKED.'
begin
    declare v_entries longtext;
    declare v_entry bigint;
    declare v_seed varchar(64) character set ascii;
    begin atomic
        call _queue_reserve(in_kind, in_worker, in_max_messages, in_options, v_entry, v_entries, v_seed);
    end atomic;
    call _queue_answer(v_entry, v_entries, v_seed);
end;
