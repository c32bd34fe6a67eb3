-- calls: _queue_entry, _queue_put_onto
-- changes: delayed_queue
drop procedure if exists _queue_put;
delimiter $$
create procedure _queue_put(in in_entry bigint, in in_kind text collate exact, in in_key text collate exact,
    in in_payload longtext character set utf8mb4, in in_payload_bytes longblob,
    in in_headers longtext character set utf8mb4, in in_priority smallint, in in_now bigint, in in_scheduled_at bigint,
    in in_attempts int, in in_max_attempts int, in in_on_duplicate varchar(20) character set utf8mb4,
    out out_scheduled_at bigint, out out_outcome varchar(10) character set utf8mb4)
    comment 'Puts one message into a kind, whose parameters are checked already.
in_now: the time of the call. in_scheduled_at: its delivery time. in_on_duplicate: what to do where the key is taken.
The other parameters are the columns.
Result: scheduled_at of the message that is there now, and outcome: created, ignored, replaced, held.
Locks: the message of that key, where in_on_duplicate changes it; waits for a transaction that is putting the same key.
differs: in_entry is the number of the entry, NULL: a new one. It comes from _queue_epoch, so that a batch can have its
numbers before its keys are put in, and LAST_INSERT_ID() stays that of the caller.'
begin
    declare v_entry bigint default in_entry;
    declare v_seen bigint;
    declare v_created int;
    declare continue handler for not found begin end;
    put: loop
        set v_seen = null, out_outcome = null;
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
                    in_on_duplicate, out_outcome);
                if out_outcome is not null then
                    select min(q.scheduled_at) into out_scheduled_at from delayed_queue q
                    where q.p_kind = in_kind and q.p_key = in_key;
                    leave put;
                end if;
            end if;
        end if;
        if v_entry is null then
            call _queue_entry(v_entry);
        end if;
        insert into delayed_queue (entry, p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at,
            scheduled_at_initially, created_at, attempts, max_attempts, ready_rank, ready_at, due_at)
        values (v_entry, in_kind, in_key, in_payload, in_payload_bytes, in_headers, in_priority, in_scheduled_at,
            in_scheduled_at, in_now, in_attempts, in_max_attempts, if(in_scheduled_at <= in_now, -in_priority, null),
            if(in_scheduled_at <= in_now, in_scheduled_at, null), if(in_scheduled_at > in_now, in_scheduled_at, null))
        on duplicate key update entry = delayed_queue.entry;
        -- looked at, because how many rows have changed depends on the client's flags
        select count(*) into v_created from delayed_queue q
        where q.entry = v_entry and q.p_kind = in_kind and q.p_key = in_key;
        if v_created > 0 then
            set out_scheduled_at = in_scheduled_at, out_outcome = 'created';
            leave put;
        elseif in_on_duplicate <> 'ignore' then
            call _queue_put_onto(in_kind, in_key, in_payload, in_payload_bytes, in_headers, in_now, in_scheduled_at,
                in_on_duplicate, out_outcome);
        end if;
        set out_scheduled_at = null;
        select q.scheduled_at into out_scheduled_at from delayed_queue q
        where q.p_kind = in_kind and q.p_key = in_key lock in share mode;
        if out_scheduled_at is not null and (in_on_duplicate = 'ignore' or out_outcome is not null) then
            set out_outcome = coalesce(out_outcome, 'ignored');
            leave put;
        end if; -- else it went away in between, or the number was taken: it can be put in now
        set v_entry = null;
    end loop;
end $$
delimiter ;
