-- calls: _queue_check_seconds, _queue_extend_with_permits, _queue_receipt, queue_now
-- changes: delayed_queue
create procedure queue_extend(in in_receipt text, in in_seconds double)
    comment 'Keeps the hold of a message for so long from now; the receipt stays the same.
in_receipt: what queue_reserve answered. in_seconds: 0 to a year (31536000).
Result: receipt, outcome: extended; lost where somebody else has got the message since, or it was acked, moved or
removed; and where its hold has expired and a permit of one of its semaphores is somebody else''s, or, in a kind with
max_reserved, its place was wanted.
Errors: PQ005 for what is no receipt, PQ001 for seconds.
Locks: the message.'
begin
    declare v_now, v_entry, v_found bigint;
    declare v_secret binary(16);
    declare v_guarded boolean;
    declare v_outcome longtext character set ascii;
    declare continue handler for not found begin end;
    begin atomic
        call queue_now(v_now);
        call _queue_receipt(in_receipt, v_entry, v_secret);
        call _queue_check_seconds(in_seconds);
        set v_outcome = 'l';
        select q.entry, q.semaphores is not null into v_found, v_guarded from delayed_queue q
        where q.entry = v_entry and q.secret = v_secret and q.reserved_by is not null for update;
        if v_guarded then
            call _queue_extend_with_permits(json_array(json_array(v_found + 0, 1)), in_seconds, v_now, v_outcome);
            set v_found = if(v_outcome = 'e', v_found, null);
        else
            update delayed_queue q set q.scheduled_at = v_now + cast(round(in_seconds * 1000000) as signed)
                where q.entry = v_found;
        end if;
    end atomic;
    select in_receipt as receipt, if(v_found is null, 'lost', 'extended') as outcome;
end;
