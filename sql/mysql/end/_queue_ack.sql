-- calls: _queue_advance, _queue_check_ack, _queue_end, _queue_lock_moves, _queue_members_end, _queue_move,
--     _queue_move_many, _queue_permits_note, _queue_receipt, _queue_text, queue_now
-- changes: delayed_queue, queue_count, queue_history
create procedure _queue_ack(in in_receipt text, in in_options longtext, out out_outcome varchar(10))
    comment 'queue_ack without its transaction, for whom may have none of its own.
in_receipt, in_options, and the errors: those of queue_ack. out_outcome: acked, moved, duplicate, lost.
differs: on PostgreSQL queue_ack is called itself: a function needs no transaction of its own.'
begin
    declare v_now, v_entry, v_member bigint;
    declare v_secret binary(16);
    declare v_kind varchar(100) collate exact;
    declare v_to text collate exact;
    declare v_keeps, v_pushed boolean;
    declare v_deliveries int;
    declare v_order varchar(200) collate exact;
    declare v_outcomes longtext character set ascii;
    declare v_list, v_move, v_semaphores longtext;
    declare continue handler for not found begin end;
    call _queue_receipt(in_receipt, v_entry, v_secret);
    if in_options is not null then
        call _queue_check_ack(in_options);
        call _queue_text(in_options, 'to', v_to);
    end if;
    select q.p_kind, coalesce(v_to, if(q.source_kind is null,
            convert(json_value(q.route, '$[0]') using utf8mb4) collate exact, null)),
        coalesce(in_options is not null or q.member is not null or q.pending is not null or k.history_seconds > 0
            or k.dedup_seconds > 0 or k.log_seconds > 0, false),
        q.source_kind is null, q.deliveries, q.order_key, q.semaphores, q.member
    into v_kind, v_to, v_keeps, v_pushed, v_deliveries, v_order, v_semaphores, v_member
    from delayed_queue q left join queue_kind k on k.p_kind = q.p_kind where q.entry = v_entry and q.secret = v_secret;
    set out_outcome = 'lost';
    if v_kind is not null and v_to is null and not v_keeps then -- most, in one statement
        delete q from delayed_queue q where q.entry = v_entry and q.secret = v_secret and q.pending is null;
        if row_count() > 0 then
            insert into queue_count (id, p_kind, pushed, reserved, acked)
                values (uuid_short(), v_kind, v_pushed, v_deliveries, 1);
            set out_outcome = 'acked';
            if v_order is not null then
                call queue_now(v_now);
                call _queue_advance(json_array(json_array(v_kind, v_order, v_entry + 0)), v_now);
            elseif v_semaphores is not null then
                call _queue_permits_note(v_entry, v_semaphores);
            end if;
        end if;
    end if;
    if out_outcome = 'lost' then
        call queue_now(v_now);
        set v_list = json_array(json_array(v_entry + 0, lower(hex(v_secret)), 1));
        if v_kind is null or v_to is null and not v_keeps then -- or a snapshot that is old
            call _queue_move_many(v_list, 1, null, in_options, v_now, v_outcomes);
            set out_outcome = case v_outcomes when 'a' then 'acked' when 'm' then 'moved' when 'd' then 'duplicate'
                else 'lost' end;
        elseif v_to is not null then
            set v_move = json_set(json_remove(coalesce(nullif(in_options, 'null'), '{}'), '$.to'), '$.next', true),
                v_member = null;
            call _queue_lock_moves(v_list, null, v_to, null);
            call _queue_move(v_entry, v_secret, v_to, v_move, v_now, out_outcome);
        else
            select 'acked' into out_outcome from delayed_queue q where q.entry = v_entry and q.secret = v_secret
            for update;
            if out_outcome = 'acked' then
                call _queue_end(v_entry, 'acked', null, v_now);
            end if;
        end if;
        if in_options ? 'result' then
            update queue_history h set h.result = in_options -> 'result'
            where h.p_kind = v_kind and h.finished_at = v_now and h.entry = v_entry;
        end if;
        if v_member is not null and out_outcome = 'acked' then
            call _queue_members_end(json_array(v_member + 0), 'acked', in_options -> 'result', v_now);
        end if;
    end if;
end;
