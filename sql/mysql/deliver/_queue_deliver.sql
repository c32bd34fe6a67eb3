-- calls: _queue_admit, _queue_admitted, _queue_check_count, _queue_check_name, _queue_check_options,
--     _queue_check_roles, _queue_defaults, _queue_end_undeliverable, _queue_groups_due, _queue_number, _queue_random,
--     _queue_take, _queue_take_where, _queue_take_with_permits, _queue_upkeep, _queue_use, _queue_where
-- changes: delayed_queue, queue_count
create procedure _queue_deliver(in in_kind text collate exact, in in_worker text collate exact, in in_max_messages int,
    in in_options longtext, in in_popped boolean, in in_now bigint, out out_entry bigint, out out_entries longtext,
    out out_seed varchar(64) character set ascii, out out_keeps boolean)
    comment 'The verb deliver: takes messages in the order of delivery, as many as limits and semaphores allow. A
reserve holds them; what is popped stays locked as it is, for queue_pop to send and end.
in_kind, in_worker, in_max_messages, in_options, and the errors: those of queue_reserve. in_popped: whether it is a
pop: max_reserved doesn''t count for it, and in_worker doesn''t matter. in_now: the time of the call, after
_queue_drain_inbox. out_entry: the message that is held, where it is one. out_entries: the messages, a JSON array of
their entries; NULL: none. out_seed: 64 hexadecimal digits, what their secrets are made of: of one message the first
32, of several a hash of all with the entry. out_keeps: whether the kind keeps history, keys or a log.
Locks: those of queue_reserve.
differs: it checks what it was given, too; the short way of a reserve is in _queue_reserve, since a statement costs more
inside of a procedure.'
begin
    declare v_until, v_looked, v_tokens bigint;
    declare v_timeout, v_given, v_none, v_rate decimal(30,6) default null;
    declare v_most, v_number, v_expired, v_ends, v_gone, v_limit int;
    declare v_ended int default 1;
    declare v_before int default 0; -- expired holds that were ended
    declare v_slots longtext character set ascii;
    declare v_paused, v_guarded, v_restricted boolean default false;
    declare v_expires decimal(20,6);
    declare v_shape, v_where longtext;
    declare v_worker text collate exact default coalesce(in_worker, left(concat(user(), '/', connection_id()), 200));
    declare v_max int default coalesce(in_max_messages, 1);
    declare continue handler for not found begin end;
    call _queue_check_name(in_kind, 100, 'kind');
    call _queue_check_count(v_max, 'max_messages', 10000);
    call _queue_check_name(v_worker, 200, 'worker');
    set out_keeps = false;
    select k.timeout_seconds, coalesce(k.max_attempts, 2147483647), k.paused, k.payload_shape, k.history_seconds > 0
        or k.dedup_seconds > 0 or k.log_seconds > 0, k.expires_seconds, k.semaphores,
            if(in_popped, null, k.max_reserved), k.rate_per_second, k.roles is not null
    into v_timeout, v_most, v_paused, v_shape, out_keeps, v_expires, v_guarded, v_limit, v_rate, v_restricted
        from queue_kind k where k.p_kind = in_kind;
    set v_guarded = v_guarded or @pyqueue_permit_held is not null; -- by queue_next: nothing is ended any more
    if v_most is null then
        call _queue_defaults(v_timeout, v_most, v_none, v_none, v_none, v_none);
    end if;
    if v_restricted then
        call _queue_check_roles(json_array(in_kind));
    end if;
    if in_options is not null then
        call _queue_check_options(in_options, if(in_popped, 'where', 'timeout_seconds,where'), 'options');
        call _queue_where(in_options, v_where);
        call _queue_number(in_options, 'timeout_seconds', 0.001, 31536000, v_given);
    end if;
    -- a pop has the permits of its messages until the transaction ends
    set v_until = if(in_popped, in_now + 1, in_now + coalesce(v_given, v_timeout) * 1000000);
    set out_entry = null, out_entries = null;
    if @pyqueue_seed is null and not in_popped then
        call _queue_random(@pyqueue_seed); -- it takes some microseconds, and only this session can read it
    end if;
    if v_expires is not null then
        call _queue_use(in_kind, v_expires, in_now);
    end if;
    if not v_paused and coalesce(v_limit, v_rate) is not null then
        call _queue_admit(in_kind, v_limit, v_rate, in_now, v_max, v_slots, v_tokens);
    end if;
    if not v_paused and v_max > 0 then
        call _queue_groups_due(in_now, v_looked);
        while v_ended > 0 and not v_guarded do -- what can't be delivered is ended on the way
            if v_where is null then
                call _queue_take(in_kind, v_max, in_now, v_most, out_entries, v_number, v_expired, v_ends);
            else
                call _queue_take_where(in_kind, v_max, in_now, v_most, v_where, out_entries, v_number, v_expired,
                    v_ends);
            end if;
            set v_ended = 0;
            if v_ends > 0 then -- or the mark of the kind was lost
                select count(q.semaphores) > 0 into v_guarded from messages(out_entries) q
                for update of q; -- locked already; an old snapshot may not have it
            end if;
            if not v_guarded and (v_ends > 0 or v_shape is not null and out_entries is not null) then
                call _queue_end_undeliverable(out_entries, v_shape, v_most, in_now, v_ended, v_gone);
                set v_before = v_before + v_gone;
            end if;
        end while;
        if v_guarded then
            call _queue_take_with_permits(in_kind, v_max, v_most, v_shape, v_until, in_now, v_where, out_entries,
                v_number, v_expired);
        end if;
        set v_expired = v_expired + v_before;
        if out_entries is not null and not in_popped then
            set out_seed = sha2(concat(@pyqueue_seed, uuid_short()), 256);
            if v_number = 1 then -- without a set, which takes longer
                set out_entry = json_extract(out_entries, '$[0]');
                update delayed_queue q
                set q.scheduled_at = v_until, q.reserved_at = in_now, q.attempts = q.attempts + 1, q.room = null,
                    q.deliveries = q.deliveries + 1, q.reserved_by = v_worker, q.secret = unhex(left(out_seed, 32))
                where q.entry = out_entry;
            else
                update messages(out_entries) q
                set q.scheduled_at = v_until, q.reserved_at = in_now, q.attempts = q.attempts + 1, q.room = null,
                    q.deliveries = q.deliveries + 1, q.reserved_by = v_worker,
                    q.secret = unhex(left(sha2(concat(out_seed, q.entry), 256), 32));
            end if;
        end if;
        if coalesce(v_limit, v_rate) is not null then
            call _queue_admitted(in_kind, v_rate, v_number, v_tokens, v_slots, out_entries, out_seed, in_now);
        end if;
        if v_expired > 0 then
            insert into queue_count (id, p_kind, expired) values (uuid_short(), in_kind, v_expired);
        end if;
        if rand() < 0.05 then
            call _queue_upkeep(in_kind, out_keeps, in_now, 40 * v_max, v_worker);
        end if;
    end if;
end;
