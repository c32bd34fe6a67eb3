-- calls: _queue_end_undeliverable, _queue_take, _queue_take_where, _queue_take_with_permits
create procedure _queue_take_deliverable(in in_kind text collate exact, in in_max int, in in_most int,
    in in_shape longtext character set utf8mb4, in in_now bigint, in in_until bigint,
    in in_where longtext character set utf8mb4,
    out out_entries longtext character set utf8mb4, out out_number int, out out_expired int)
    comment 'The next messages of a kind that can be delivered, locked; what can''t be is ended on the way.
in_shape: payload_shape of the kind. in_until: when the holds end. in_where: what they must match, see _queue_where;
NULL: anything. The other parameters, the result and the locks are those of _queue_take; out_expired counts what was
ended too.
differs: on PostgreSQL it is a part of _queue_deliver.'
take: begin
    declare v_ends, v_ended, v_expired, v_more int default 0;
    set v_ended = 1;
    while v_ended > 0 do
        if in_where is null then
            call _queue_take(in_kind, in_max, in_now, in_most, out_entries, out_number, out_expired, v_ends);
        else
            call _queue_take_where(in_kind, in_max, in_now, in_most, in_where, out_entries, out_number, out_expired,
                v_ends);
        end if;
        set v_ended = 0;
        if v_ends > 0 or in_shape is not null and out_entries is not null then
            if v_ends > 0 then
                select count(q.semaphores) into v_more from messages(out_entries) q
                for update /*!80000 of q */; -- locked already; an old snapshot may not have it
                if v_more > 0 then -- the mark of the kind was lost
                    call _queue_take_with_permits(in_kind, in_max, in_most, in_shape, in_until, in_now, in_where,
                        out_entries, out_number, out_expired);
                    set out_expired = out_expired + v_expired;
                    leave take;
                end if;
            end if;
            call _queue_end_undeliverable(out_entries, in_shape, in_most, in_now, v_ended, v_more);
            set v_expired = v_expired + v_more;
        end if;
    end while;
    set out_expired = out_expired + v_expired;
end;
