-- calls: _queue_check_nack, _queue_nack, _queue_receipt, queue_now
create procedure queue_nack(in in_receipt text, in in_options longtext)
    comment 'Gives a message back for a later try. A nack of the last delivery that it may have (max_attempts) makes it
a dead letter.
in_receipt: what queue_reserve returned.
in_options: why, and until when.
- delay_seconds: how long the message waits. Allowed: 0 to 31536000 (a year). Default: without an error 0; with an
  error the back-off of the kind, which is backoff_seconds * backoff_factor ^ (attempts - 1), at most
  backoff_max_seconds, less up to the share jitter of it at random.
- error: what went wrong. The last ten are kept with the message. Allowed: a text. Default: none, the message didn''t
  fail.
- payload: takes the place of the payload. Allowed: JSON. Default: the payload stays.
- final: makes the message a dead letter at once. Allowed: true, false. Default: false.
- count: false means that the delivery doesn''t count as an attempt, and that there is no back-off: a snooze, or a
  shutdown. Allowed: true, false. Default: true.
Result: receipt, outcome: retry, dead, lost (see queue_ack). What was pushed onto the message while it was held takes
its place, with the time it asks for.
Errors: PQ005 for what is no receipt, PQ002 for options, PQ003 for the payload.
Locks: the message, and where it dies its key in the dead-letter kind; its semaphores.'
begin
    declare v_now, v_entry bigint;
    declare v_secret binary(16);
    declare v_outcome varchar(10);
    begin atomic
        call _queue_receipt(in_receipt, v_entry, v_secret);
        call _queue_check_nack(in_options);
        call queue_now(v_now);
        call _queue_nack(v_entry, v_secret, in_options, v_now, v_outcome);
    end atomic;
    select in_receipt as receipt, v_outcome as outcome;
end;
