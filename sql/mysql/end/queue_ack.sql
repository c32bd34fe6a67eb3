-- calls: _queue_ack
create procedure queue_ack(in in_receipt text, in in_options longtext)
    comment 'The work is done: removes the message. It is kept in queue_history where the kind has history_seconds. What
was pushed onto it while it was held is put in now.
in_receipt: what queue_reserve returned.
in_options: what came of it, and where it goes.
- result: what came of the work. It is kept in queue_history and given to the group of the message. Allowed: JSON, at
  most 28 levels deep. Default: none.
- to: the kind that the message goes on to. So a consumer can choose. Allowed: a kind, 1 to 95 characters. Default:
  the next kind of its route; without a route the message ends.
- payload: the payload that it goes on with. It is ignored where the message ends here. Allowed: JSON. Default: the
  payload stays.
A message that has a route, see queue_push, moves on to the next kind of that, or to the one of option to instead. The
rest of the route goes with it. Moving on is queue_move: a new entry in the same transaction. A dead letter stays off
its route unless it is redriven: its ack ends it.
Result: receipt, outcome: acked; moved, to the next kind; duplicate: its key is taken there, see queue_move; lost:
somebody else has got the message since, or it was acked, moved or removed. After the timeout, but before the next
delivery, an ack still counts. lost is an answer: nothing has changed.
Errors: PQ007 for a kind that is for others. PQ005 for what is no receipt, PQ001 for to, PQ002 for options, PQ003 for
result and payload, PQ004 where the next kind is drained; then it is still held.
Locks: the message and the next in the line of its order key. Where it goes on, also the first of that line there and
the one that has its key there, in the order of their entries. Its semaphores.
Where the idea comes from: Keuss''s pipelines, with their direct, choice and sink links.'
begin
    declare v_outcome varchar(10);
    begin atomic
        call _queue_ack(in_receipt, in_options, v_outcome);
    end atomic;
    select in_receipt as receipt, v_outcome as outcome;
end;
