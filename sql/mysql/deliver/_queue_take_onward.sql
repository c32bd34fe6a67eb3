-- calls: _queue_ticks
create procedure _queue_take_onward(in in_kind varchar(100) collate exact,
    in in_path varchar(1200) character set ascii, in in_start bigint, in in_now bigint, in in_most int,
    out out_entry bigint, out out_expired boolean, out out_slots int, out out_done boolean)
    comment '_queue_take for one message, where the session keeps a cursor of the kind, with one priority in use.
in_kind, in_now, in_most, and the locks: those of _queue_take. in_path: where @pyqueue_cursors has the kind. in_start:
when the call began, in microseconds of _queue_ticks. out_entry: the message. out_expired: whether it is an expired
hold. out_slots: how many semaphores it names, NULL: none. out_done: false where it is left to _queue_take: another look
is due, something has come due or stands before the cursor, nothing is behind it, or the message can''t be delivered.
Whether something of a higher priority stands before it is looked up at most 2% of the time where that takes over half a
millisecond, and every 2 s at least: @pyqueue_ahead_at has when the next time is, for the kind @pyqueue_ahead_of.
differs: a statement costs more inside of a procedure than on PostgreSQL, which has one way for both.'
take: begin
    declare v_cursor longtext default json_extract(@pyqueue_cursors, in_path);
    declare v_rank int default json_extract(v_cursor, '$.lanes[0].rank');
    declare v_low bigint default v_cursor -> 'due';
    declare v_at, v_entry, v_other, v_began, v_took bigint;
    declare v_ends boolean;
    declare continue handler for not found begin end;
    set out_entry = null, out_done = false;
    if in_start >= v_cursor -> 'start_at' or in_start >= v_cursor -> 'marks_at'
        or v_cursor -> 'turn_at' not between in_start and in_start + 4000000 then
        leave take;
    end if;
    select min(d.due_at) into v_other from delayed_queue d force index (delayed_queue_due)
    where d.p_kind = in_kind and d.due_at between v_low and in_now;
    if v_other is null and (@pyqueue_ahead_of = in_path
        and @pyqueue_ahead_at between in_start + 1 and in_start + 2000000) is not true then
        call _queue_ticks(v_began);
        select min(q.ready_rank) into v_other from delayed_queue q force index (delayed_queue_ready)
        where q.ready_kind = in_kind and q.ready_rank between -32768 and v_rank - 1;
        call _queue_ticks(v_took);
        -- InnoDB passes over all dead entries up to the next living one, even beyond the end of the range
        set v_took = v_took - v_began;
        set @pyqueue_ahead_of = in_path,
            @pyqueue_ahead_at = if(v_took < 500, 0, in_start + least(50 * v_took, 2000000));
    end if;
    if v_other is not null then
        leave take;
    end if;
    set v_low = json_extract(v_cursor, '$.lanes[0].place') + 0,
        v_entry = if(v_low > in_now, 0, coalesce(cast(json_extract(v_cursor, '$.lanes[0].entry') as signed), 0)),
        v_low = least(v_low, in_now);
    select q.entry, q.reserved_at is not null, q.pending is not null
        or q.attempts >= coalesce(q.max_attempts, in_most), q.ready_at,
            if(q.source_kind is null, json_length(q.semaphores), null)
    into out_entry, out_expired, v_ends, v_at, out_slots
    from delayed_queue q force index (delayed_queue_ready)
    where q.ready_kind = in_kind and q.ready_rank = v_rank and q.scheduled_at <= in_now
        and (q.ready_at = v_low and q.entry >= v_entry or q.ready_at > v_low)
    order by q.ready_at, q.entry limit 1 for update skip locked;
    if v_ends is false then
        set @pyqueue_cursors = json_set(@pyqueue_cursors, concat(in_path, '.lanes[0].place'), v_at + 0,
            concat(in_path, '.lanes[0].entry'), out_entry + 0), out_done = true;
    end if;
end;
