-- calls: _queue_stream_reserve
drop procedure if exists queue_stream_reserve;
delimiter $$
create procedure queue_stream_reserve(in in_stream text collate exact, in in_batch bigint, in in_part int,
    in in_kind text collate exact, in in_max_messages int, in in_options longtext character set utf8mb4)
    comment 'queue_reserve for one part of a batch. Who asks again for the same part gets the same messages, as far as
they are still held for it, and no others, whatever it wants to take now. So a task that fails is run again, and a batch
is replayed. queue_stream_commit ends the batch.
in_stream: what names the reader, 1 to 200 characters; its first 160 and the batch and the part are the worker.
in_batch: the number of the batch, they only go up.
in_part: the part of it, from 0.
in_kind and in_max_messages: those of queue_reserve.
in_options: those of queue_reserve, and three more.
- timeout_seconds: how long the hold lasts. Allowed: 0.001 to 31536000 (a year). Default: timeout_seconds of the kind,
  300.
- where: takes only messages that contain this object, as in queue_reserve. Allowed: an object of at most 16 values.
  Default: all messages.
- source: what names the read, where a batch has several. Allowed: 1 to 230 characters. Default: the stream and the
  batch, with / between.
- plan: what queue_stream_plan returned for it. The call is refused where the read was planned again since. Allowed: a
  number. Default: none.
- follows: a part that goes on where the one before it was full, and is empty where it wasn''t. Allowed: true, false.
  Default: false.
Result: that of queue_reserve; where the batch is committed already what it has kept, see queue_stream_commit.
Errors: PQ001 for stream, batch, part, kind and max_messages, PQ002 for options, PQ004 for plan.
Locks: as queue_reserve; the plan, shared; a second call for the same part waits for the first.
Where the idea comes from: the offsets of a log, for a queue that has none.'
begin
    declare v_list longtext character set utf8mb4;
    declare v_source text collate exact;
    begin atomic
        call _queue_stream_reserve(in_stream, in_batch, in_part, in_kind, in_max_messages, in_options, v_source,
            v_list);
    end atomic;
    if v_list is null then
        select k.p_kind, k.p_key, k.payload, k.payload_bytes, k.headers, k.priority, k.scheduled_at,
            k.scheduled_at_initially, k.created_at, k.reserved_at, k.attempts, k.reserved_by, k.receipt, k.errors
        from queue_stream_kept k where k.source = v_source and k.part = in_part order by k.place;
    else
        select q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
            q.scheduled_at_initially, q.created_at, q.reserved_at, q.attempts, q.reserved_by,
            concat(q.entry, '-', lower(hex(q.secret))) as receipt, q.errors
        from json_table(v_list, '$[*]'
            columns (entry bigint path '$[0]', secret char(32) character set utf8mb4 path '$[1]',
            place int path '$[2]')) r
            straight_join delayed_queue q force index (primary) on q.entry = r.entry and q.secret = unhex(r.secret)
        order by r.place;
    end if;
end $$
delimiter ;
