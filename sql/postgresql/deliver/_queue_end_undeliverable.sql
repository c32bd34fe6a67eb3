-- calls: _queue_bury, _queue_end, _queue_misfit, _queue_settings
create or replace function _queue_end_undeliverable(in_tids tid[], in_now bigint) returns void language plpgsql as $$
declare
    v_row delayed_queue;
    v_shape jsonb;
begin
    for v_row in
        select q.* from delayed_queue q where q.ctid = any (in_tids) and q.scheduled_at <= in_now
        order by q.p_key, q.p_kind -- as everywhere
    loop
        if v_row.pending is not null then
            perform _queue_end(array[v_row.entry], null::bytea[], null::text, null::text, in_now);
        else
            v_shape := (_queue_settings(v_row.p_kind)).payload_shape;
            perform _queue_bury(v_row.entry, coalesce('payload ' || case when v_shape is not null
                then _queue_misfit(v_shape, v_row.payload) end, 'expired'), in_now);
        end if;
    end loop;
end $$;

comment on function _queue_end_undeliverable(tid[], bigint) is
$$Ends what was taken and can't be delivered: where something newer was pushed while it was held, that is put in; where
it was the last delivery the message may have, or its payload is not of its kind, it becomes a dead letter.
in_tids: messages, locked already; those that are held again are left alone. in_now: the time of the call.
differs: on MariaDB and MySQL one message, because a procedure has no arrays.$$;
