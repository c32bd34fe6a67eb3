-- calls: _queue_next, _queue_reserved
drop procedure if exists queue_next;
delimiter $$
create procedure queue_next(in in_receipts longtext character set utf8mb4, in in_kind text collate exact,
    in in_worker text collate exact, in in_max_messages int, in in_options longtext character set utf8mb4)
    comment 'The loop of a consumer in one call: it acks what is done, as queue_ack_many does, and takes the next
messages, as queue_reserve does, in one transaction. What is acked first goes on along its route, finishes its group,
and gives its turn to who is next in the line of its order key, at its semaphores and under max_reserved. So the same
call may take what it has freed.
in_receipts: a JSON array of at most 10000 receipts, of whatever kinds; NULL: none.
in_kind, in_worker, in_max_messages: those of queue_reserve.
in_options: those of queue_reserve, and lost.
- timeout_seconds: how long the hold lasts. Allowed: 0.001 to 31536000 (a year). Default: timeout_seconds of the kind,
  300.
- where: takes only messages that contain this object, as in queue_reserve. Allowed: an object of at most 16 values.
  Default: all messages.
- lost: fails the call where a receipt is lost. Allowed: error. Default: a lost receipt is counted, no more.
Result: that of queue_reserve. No row where nothing is ready or the kind is paused; what is acked is acked all the
same. A receipt that is lost, see queue_ack_many, changes nothing and is counted for in_kind, see queue_stats.
Errors: PQ006 with the receipts that are lost, see option lost; PQ005 for receipts, PQ001 for kind, worker and
max_messages, PQ002 for options, PQ003 for JSON that not every server can hold, PQ004 where the next kind of a route
is drained. After each of them nothing is acked, and nothing taken.
Locks: those of queue_ack_many, then those of queue_reserve. Where the first are semaphores, messages whose semaphores
others have locked are left to the next call.'
begin
    declare v_entries longtext character set utf8mb4;
    declare v_entry bigint;
    declare v_seed varchar(64) character set ascii;
    begin atomic
        call _queue_next(in_receipts, in_kind, in_worker, in_max_messages, in_options, v_entry, v_entries, v_seed);
    end atomic;
    call _queue_reserved(v_entry, v_entries, v_seed);
end $$
delimiter ;
