-- calls: _queue_enrol, _queue_entry, _queue_index, _queue_join_line, _queue_line_up, _queue_log, _queue_put_onto
-- changes: delayed_queue, queue_group_member
create procedure _queue_put(inout out_entry bigint, in in_kind text collate exact, in in_key text collate exact,
    in in_payload longtext, in in_payload_bytes longblob, in in_headers longtext, in in_priority smallint,
    in in_now bigint, in in_scheduled_at bigint, in in_attempts int, in in_max_attempts int,
    in in_on_duplicate varchar(20), in in_since bigint, in in_route longtext, in in_group varchar(100) collate exact,
    in in_member bigint, in in_order varchar(200) collate exact, in in_semaphores longtext, out out_scheduled_at bigint,
    out out_outcome varchar(10))
    comment 'Puts one message into a kind, whose columns are checked already: into the index of filters, the lines of
its semaphores and its order key, its group and the log too.
in_on_duplicate: what to do where the key is taken. in_since: a key that has ended later than that, a time in
microseconds, is ignored; NULL: none is. in_now: the time of the call. in_group: the group whose new member it is,
in_member: the member that it goes on as; NULL: none. The other parameters are the columns.
Result: scheduled_at of the message that is there now; outcome: created, ignored, replaced, held; entry, where it is
created or replaced.
Locks: the message of that key, where in_on_duplicate changes it; waits for a transaction that is putting the same key.
differs: a row can''t be a parameter here. out_entry: the number of the entry, which comes from _queue_epoch, so that a
batch can have its numbers before its keys are put in, and LAST_INSERT_ID() stays that of the caller. NULL: a new one.
Whoever gives one has many, and sees to their index, group, turns and log when all are in. The memory of keys is
read again once the message is in, by a locking read, which sees what is committed.'
begin
    declare v_many boolean default out_entry is not null;
    declare v_seen, v_ended_at bigint;
    declare v_created int;
    declare v_filter, v_logs boolean;
    declare continue handler for not found begin end;
    put: loop
        set v_seen = null, out_outcome = null;
        if in_since is not null then
            select max(d.ended_at) into v_ended_at from queue_dedup d
            where d.p_kind = in_kind and d.p_key = in_key lock in share mode;
            if v_ended_at > in_since then
                set out_outcome = 'ignored'; -- also where it came back, by a move, say
                select max(q.scheduled_at) into out_scheduled_at from delayed_queue q
                where q.p_kind = in_kind and q.p_key = in_key;
                leave put;
            end if;
        end if;
        if @pyqueue_own then
            -- what is there needs no lock on its key, which would be taken crosswise with an ack; an old snapshot
            -- wouldn't do
            select q.entry, q.scheduled_at into v_seen, out_scheduled_at from delayed_queue q
            where q.p_kind = in_kind and q.p_key = in_key;
            if v_seen is not null and in_on_duplicate = 'ignore' then
                set out_outcome = 'ignored';
                leave put;
            elseif v_seen is not null then
                call _queue_put_onto(in_kind, in_key, in_payload, in_payload_bytes, in_headers, in_now, in_scheduled_at,
                    in_on_duplicate, v_seen, out_outcome);
                if out_outcome is not null then
                    leave put;
                end if;
            end if;
        end if;
        if out_entry is null then
            call _queue_entry(out_entry);
        end if;
        insert into delayed_queue (entry, p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at,
            scheduled_at_initially, created_at, attempts, max_attempts, ready_rank, ready_at, due_at, route, member,
            order_key, semaphores)
        values (out_entry, in_kind, in_key, in_payload, in_payload_bytes, in_headers, in_priority, in_scheduled_at,
            in_scheduled_at, in_now, in_attempts, in_max_attempts, if(in_scheduled_at <= in_now
                and in_semaphores is null, -in_priority, null), if(in_scheduled_at <= in_now
                and in_semaphores is null, in_scheduled_at, null), if(in_scheduled_at > in_now, in_scheduled_at, null),
            in_route, in_member, in_order, in_semaphores)
        on duplicate key update entry = delayed_queue.entry;
        -- looked at, because how many rows have changed depends on the client's flags
        select count(*), max(k.filter_index), max(k.log_seconds > 0) into v_created, v_filter, v_logs
        from delayed_queue q left join queue_kind k on k.p_kind = q.p_kind
        where q.entry = out_entry and q.p_kind = in_kind and q.p_key = in_key;
        if v_created > 0 then
            set out_scheduled_at = in_scheduled_at, out_outcome = 'created';
            leave put;
        elseif in_on_duplicate <> 'ignore' then
            call _queue_put_onto(in_kind, in_key, in_payload, in_payload_bytes, in_headers, in_now, in_scheduled_at,
                in_on_duplicate, v_seen, out_outcome);
        end if;
        set out_scheduled_at = null;
        select q.scheduled_at into out_scheduled_at from delayed_queue q
        where q.p_kind = in_kind and q.p_key = in_key lock in share mode;
        if out_scheduled_at is not null and (in_on_duplicate = 'ignore' or out_outcome is not null) then
            set out_outcome = coalesce(out_outcome, 'ignored');
            leave put;
        end if; -- else it went away in between, or the number was taken: it can be put in now
        set out_entry = null;
    end loop;
    if out_outcome = 'created' and in_since is not null then
        select max(d.ended_at) into v_ended_at from queue_dedup d
        where d.p_kind = in_kind and d.p_key = in_key lock in share mode;
        if v_ended_at > in_since then
            delete q from delayed_queue q where q.p_kind = in_kind and q.p_key = in_key;
            set out_scheduled_at = null, out_outcome = 'ignored';
        end if;
    elseif out_outcome in ('replaced', 'held') then
        -- by its entry: an old snapshot has another one of that key, too, and finds that
        select q.entry, q.scheduled_at, k.filter_index, k.log_seconds > 0 and in_on_duplicate <> 'push_back'
        into out_entry, out_scheduled_at, v_filter, v_logs
        from delayed_queue q left join queue_kind k on k.p_kind = q.p_kind
        where q.entry = v_seen;
    end if;
    if v_filter and not v_many and out_outcome in ('created', 'replaced') then
        call _queue_index(json_array(out_entry + 0));
    end if;
    if out_outcome = 'created' and in_member is not null then
        update queue_group_member m set m.entry = out_entry, m.error = null
        where m.member = in_member and m.done_at is null;
    end if;
    if out_outcome = 'created' and in_order is not null and not v_many then
        call _queue_join_line(json_array(out_entry + 0));
    elseif out_outcome = 'created' and in_semaphores is not null and not v_many then
        call _queue_line_up(json_array(out_entry + 0));
    end if;
    if out_outcome = 'created' and in_group is not null and not v_many then
        call _queue_enrol(json_array(json_array(out_entry + 0, 'pushed', in_group)));
    end if;
    if v_logs and not v_many and out_outcome in ('created', 'replaced') then
        call _queue_log(out_entry, if(out_outcome = 'created', 'pushed', 'replaced'), null, null, null, in_now);
    end if;
end;
