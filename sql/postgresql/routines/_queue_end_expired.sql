create or replace function _queue_end_expired(in_tids tid[], in_now bigint) returns void language plpgsql as $$
declare
    v_row delayed_queue;
begin
    for v_row in
        delete from delayed_queue q where q.ctid = any (in_tids) and q.scheduled_at <= in_now and q.pending is not null
        returning q.*
    loop
        perform _queue_put_pending(v_row, in_now);
    end loop;
    perform _queue_bury(array(
        select q.entry from delayed_queue q where q.ctid = any (in_tids) and q.scheduled_at <= in_now order by q.entry),
        'expired', in_now);
end $$;

comment on function _queue_end_expired(tid[], bigint) is
$$Ends holds that have expired and can't be followed by another delivery: where something newer was pushed meanwhile, that is
put in; where it was the last delivery the message may have, it becomes a dead letter.
in_tids: messages, locked already; those that are held again are left alone. in_now: the time of the call.$$;
