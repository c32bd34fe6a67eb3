create or replace function _queue_end_expired(in_tids tid[], in_now bigint) returns void language plpgsql as $$
declare
    v_row delayed_queue;
    v_shape jsonb;
begin
    for v_row in
        delete from delayed_queue q where q.ctid = any (in_tids) and q.scheduled_at <= in_now and q.pending is not null
        returning q.*
    loop
        insert into queue_count (p_kind, pushed) values (v_row.p_kind, (v_row.source_kind is null)::integer);
        if v_row.order_key is not null then
            perform _queue_advance(array[v_row.p_kind], array[v_row.order_key], in_now);
        end if;
        perform _queue_put_pending(v_row, in_now);
    end loop;
    for v_row in
        select q.* from delayed_queue q where q.ctid = any (in_tids) and q.scheduled_at <= in_now order by q.entry + 0
    loop
        v_shape := (_queue_settings(v_row.p_kind)).payload_shape;
        perform _queue_bury(array[v_row.entry], coalesce('payload ' || case when v_shape is not null
            then _queue_misfit(v_shape, v_row.payload) end, 'expired'), in_now);
    end loop;
end $$;

comment on function _queue_end_expired(tid[], bigint) is
$$Ends what was taken and can't be delivered: where something newer was pushed while it was held, that is put in; where it was
the last delivery the message may have, or its payload is not of its kind, it becomes a dead letter.
in_tids: messages, locked already; those that are held again are left alone. in_now: the time of the call.$$;
