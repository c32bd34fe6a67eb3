drop procedure if exists _queue_discard;
delimiter $$
create procedure _queue_discard(in in_entry bigint, in in_now bigint)
    comment 'Removes a message, and what was pushed onto it while it was held; keeps it in history where its kind wants that.
in_entry: the message, locked already. in_now: the time of the call.
differs: on PostgreSQL nothing is put in that isn''t asked for.'
begin
    update delayed_queue q
    set q.pending = null, q.pending_payload = null, q.pending_bytes = null, q.pending_headers = null, q.pending_at = null
    where q.entry = in_entry and q.pending is not null;
    call _queue_end(in_entry, 'removed', null, in_now);
end $$
delimiter ;
