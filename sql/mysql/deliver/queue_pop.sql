-- calls: _queue_begin, _queue_commit, _queue_deliver, _queue_drain_inbox, _queue_end_many, _queue_undo, queue_now
create procedure queue_pop(in in_kind text collate exact, in in_max_messages int, in in_options longtext)
    comment 'Takes ready messages of a kind and removes them. They are delivered at most once: there is no way back.
in_kind: the kind.
in_max_messages: how many at the most, 1 to 10000; NULL: 1.
in_options: which ones.
- where: takes only messages that contain this object, as in queue_reserve. Allowed: an object of at most 16 values.
  Default: all messages.
Result: the columns of each message as it was, and errors (see queue_get), times in microseconds; reserved_at and
attempts are of this delivery. Order, paused kinds and rate_per_second as in queue_reserve. max_reserved doesn''t
matter, since nothing is held. A message that names semaphores is taken only where there is a permit of each, which it
has until the transaction ends; what follows is not counted.
Errors: PQ007 for a kind that is for others. PQ001 for kind and max_messages, PQ002 for options.
Locks: as queue_reserve; with rate_per_second as _queue_admit before the messages.
differs: the rows are sent before the call''s own transaction is committed: a client reads a CALL to its end before it
believes them.'
begin
    declare v_own, v_keeps boolean;
    declare v_now, v_entry bigint;
    declare v_entries longtext;
    declare v_seed varchar(64) character set ascii;
    declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
    call _queue_begin(v_own);
    call _queue_drain_inbox();
    call queue_now(v_now);
    call _queue_deliver(in_kind, null, in_max_messages, in_options, true, v_now, v_entry, v_entries, v_seed, v_keeps);
    select q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
        q.scheduled_at_initially, q.created_at, v_now as reserved_at, q.attempts + 1 as attempts, null as reserved_by,
        q.errors
    from messages(coalesce(v_entries, '[]')) with ordinality q order by j.place for update of q;
    if v_entries is not null then
        call _queue_end_many(v_entries, v_keeps, 'popped', v_now);
    end if;
    call _queue_commit(v_own);
end;
