-- calls: _queue_end
-- changes: delayed_queue
drop procedure if exists _queue_discard;
delimiter $$
create procedure _queue_discard(in in_entry bigint, in in_outcome varchar(10) character set utf8mb4, in in_now bigint)
    comment 'Removes a message, and what was pushed onto it while it was held; what is to be kept of an end is kept.
in_entry: the message, locked already; no hold that lasts. in_outcome: removed; NULL: it goes with its kind, and nothing
is kept of it but what it counts for in queue_stats. in_now: the time of the call.
Locks: the next in the line of its order key.
differs: one message, because a procedure has no arrays; that it names semaphores is noted for the end of the call.'
begin
    update delayed_queue q
    set q.pending = null, q.pending_payload = null, q.pending_bytes = null, q.pending_headers = null,
        q.pending_at = null
    where q.entry = in_entry and q.pending is not null;
    call _queue_end(in_entry, in_outcome, null, in_now);
end $$
delimiter ;
