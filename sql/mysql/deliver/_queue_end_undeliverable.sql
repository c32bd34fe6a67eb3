-- calls: _queue_bury, _queue_end, _queue_misfit
create procedure _queue_end_undeliverable(in in_entries longtext, in in_shape longtext, in in_most int,
    in in_now bigint, out out_ended int, out out_expired int)
    comment 'Ends what was taken and can''t be delivered: where something newer was pushed while it was held, that is
put in; where it was the last delivery the message may have, or its payload is not of its kind, it becomes a dead
letter.
in_entries: messages, locked already. in_shape: payload_shape of their kind. in_most: how many deliveries a message of
the kind may have. in_now: the time of the call.
out_ended: how many that were. out_expired: how many of them were expired holds.
differs: PostgreSQL''s ends what is left once the deliverable ones are held.'
begin
    declare v_entry bigint;
    declare v_pending, v_last, v_held boolean default false;
    declare v_payload, v_misfit longtext;
    declare c cursor for -- dead letters are put in in the order of their keys, as everywhere
        select q.entry, q.pending is not null, q.attempts >= coalesce(q.max_attempts, in_most),
            q.reserved_at is not null
        from messages(in_entries) q order by q.p_key, q.p_kind for update of q;
    set out_ended = 0, out_expired = 0;
    for each c into v_entry, v_pending, v_last, v_held do
        set v_misfit = null;
        if in_shape is not null and not v_pending then
            -- a cursor over it would be a file
            select q.payload into v_payload from delayed_queue q where q.entry = v_entry for update;
            call _queue_misfit(in_shape, v_payload, v_misfit);
        end if;
        if v_pending then
            call _queue_end(v_entry, null, null, in_now);
        elseif v_last or v_misfit is not null then
            call _queue_bury(v_entry, coalesce(concat('payload ', v_misfit), 'expired'), in_now);
        end if;
        if v_pending or v_last or v_misfit is not null then
            set out_ended = out_ended + 1, out_expired = out_expired + v_held;
        end if;
    end each;
end;
