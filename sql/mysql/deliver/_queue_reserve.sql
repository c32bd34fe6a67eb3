-- calls: _queue_defaults, _queue_deliver, _queue_drain_inbox, _queue_groups_due, _queue_keep_cursor,
--     _queue_take_onward, _queue_ticks, _queue_upkeep, queue_now
-- changes: delayed_queue, queue_count, queue_semaphore_permit
create procedure _queue_reserve(in in_kind text collate exact, in in_worker text collate exact, in in_max_messages int,
    in in_options longtext, out out_entry bigint, out out_entries longtext,
    out out_seed varchar(64) character set ascii)
    comment 'queue_reserve without its transaction. What is asked for most often, one message of a kind that the session
has asked for before, is taken here in as few statements as that needs; the rest by _queue_deliver.
The parameters and the errors are those of queue_reserve. out_entry: the message, where it is one. out_entries: where it
may be several, a JSON array of their entries. out_seed: what their secrets are made of, see _queue_deliver.
differs: a statement costs more inside of a procedure than on PostgreSQL, which has one way for both.'
begin
    declare v_now, v_start, v_took, v_landed, v_due, v_until, v_from, v_first bigint;
    declare v_timeout, v_none decimal(30,6);
    declare v_most, v_slots, v_rank int;
    declare v_special, v_keeps, v_guarded, v_expired, v_ends, v_done boolean default false;
    declare v_kind varchar(100) collate exact default left(in_kind, 100); -- a text takes longer to compare
    declare v_path longtext character set ascii default concat('$.k', hex(concat(database(), '.', in_kind)));
    -- 0 after one slow scan, 1 where there is no cursor
    declare v_kept int default json_length(@pyqueue_cursors, v_path);
    declare v_lanes int default json_length(@pyqueue_cursors, concat(v_path, '.lanes'));
    declare continue handler for not found begin end;
    -- a name of ASCII needs no other checks than these
    if @pyqueue_own and @pyqueue_seed is not null and (v_kept < 2 or v_lanes = 1) and coalesce(in_max_messages, 1) = 1
        and in_options is null and char_length(in_kind) <= 100
        and (in_worker is null or locate(char(0), in_worker) = 0 and length(in_worker) between 1 and 200
            and char_length(in_worker) = length(in_worker)) then
        call queue_now(v_now);
        call _queue_ticks(v_start);
        select min(i.id) into v_landed from queue_inbox i;
        select k.timeout_seconds, coalesce(k.max_attempts, 2147483647), k.paused or k.payload_shape is not null
            or k.expires_seconds is not null
                or k.max_reserved is not null or k.rate_per_second is not null or k.roles is not null,
            k.history_seconds > 0 or k.dedup_seconds > 0 or k.log_seconds > 0, k.semaphores
        into v_timeout, v_most, v_special, v_keeps, v_guarded from queue_kind k where k.p_kind = v_kind;
        if v_most is null then
            call _queue_defaults(v_timeout, v_most, v_none, v_none, v_none, v_none);
        end if;
        if v_landed is not null or v_special then
            set v_done = false;
        elseif v_lanes = 1 then
            call _queue_take_onward(v_kind, v_path, v_start, v_now, v_most, out_entry, v_expired, v_slots, v_done);
        else
            select min(d.due_at) into v_due from delayed_queue d force index (delayed_queue_due)
            where d.p_kind = v_kind and d.due_at between 0 and v_now;
            if v_due is null then
                /*M!100600 select q.ready_rank, q.ready_at, q.entry into v_rank, v_from, v_first -- see _queue_scan
                from delayed_queue q force index (delayed_queue_ready)
                where q.ready_kind = v_kind and q.scheduled_at <= v_now
                order by q.ready_rank, q.ready_at, q.entry limit 1;
                select q.entry, q.reserved_at is not null, q.pending is not null
                    or q.attempts >= coalesce(q.max_attempts, v_most),
                        if(q.source_kind is null, json_length(q.semaphores), null)
                into out_entry, v_expired, v_ends, v_slots
                from delayed_queue q
                where q.entry = v_first and q.ready_kind = v_kind and q.scheduled_at <= v_now for update skip locked;
                if out_entry is null and v_first is not null then */
                select q.entry, q.reserved_at is not null, q.pending is not null
                    or q.attempts >= coalesce(q.max_attempts, v_most),
                        if(q.source_kind is null, json_length(q.semaphores), null)
                into out_entry, v_expired, v_ends, v_slots
                from delayed_queue q force index (delayed_queue_ready)
                where q.ready_kind = v_kind and q.scheduled_at <= v_now
                    /*M!100600 and (q.ready_rank = v_rank and q.ready_at = v_from and q.entry >= v_first
                        or q.ready_rank = v_rank and q.ready_at > v_from or q.ready_rank > v_rank) */
                order by q.ready_rank, q.ready_at, q.entry limit 1 for update skip locked;
                /*M!100600 end if; */
                call _queue_ticks(v_took);
                set v_took = v_took - v_start, v_done = not v_ends;
                if v_took > 1015 or v_kept = 0 then -- see _queue_take
                    call _queue_keep_cursor(in_kind, v_path, if(v_kept = 0, '{}', null), 'start', v_start, v_took, 1,
                        concat('[', out_entry, ']'), v_now);
                end if;
            end if;
        end if;
    end if;
    set v_until = v_now + v_timeout * 1000000;
    if v_done and v_slots > 0 then
        -- as in _queue_permits_take for one message, without a word on its row
        update queue_semaphore_permit h set h.until = v_until where h.entry = out_entry and h.until < 0;
        set v_done = row_count() = v_slots;
        if not v_done then
            update queue_semaphore_permit h set h.until = -v_now where h.entry = out_entry and h.until = v_until;
        end if;
    end if;
    if v_done and out_entry is null then
        call _queue_groups_due(v_now, v_due);
        set v_done = v_due = 0 and not v_guarded; -- there may be room for what waits
    end if;
    if not v_done then
        call _queue_drain_inbox();
        call queue_now(v_now);
        call _queue_deliver(in_kind, in_worker, in_max_messages, in_options, false, v_now, out_entry, out_entries,
            out_seed, v_keeps);
    else
        if out_entry is not null then
            set out_seed = sha2(concat(@pyqueue_seed, uuid_short()), 256);
            update delayed_queue q
            set q.scheduled_at = v_until, q.reserved_at = v_now, q.attempts = q.attempts + 1, q.room = null,
                q.deliveries = q.deliveries + 1, q.secret = unhex(left(out_seed, 32)),
                q.reserved_by = coalesce(in_worker, left(concat(user(), '/', connection_id()), 200))
            where q.entry = out_entry;
            if v_expired then
                insert into queue_count (id, p_kind, expired) values (uuid_short(), in_kind, 1);
            end if;
        end if;
        if rand() < 0.05 then
            call _queue_upkeep(in_kind, v_keeps, v_now, 40, in_worker);
        end if;
    end if;
end;
