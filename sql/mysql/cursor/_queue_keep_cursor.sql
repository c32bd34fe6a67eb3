-- calls: _queue_entry, _queue_forget_cursors, _queue_ticks
-- changes: queue_cursor
create procedure _queue_keep_cursor(in in_kind text collate exact, in in_path varchar(1200) character set ascii,
    in in_cursor longtext, in in_from varchar(6) character set ascii, in in_start bigint, in in_took bigint,
    in in_max int, in in_entries longtext, in in_now bigint)
    comment 'Brings the cursor of a session up to date after a scan, or forgets it where a scan from the start has
become fast again.
in_kind: the kind. in_path: where @pyqueue_cursors has it. in_cursor: as it was, see _queue_take. in_from: where the
scan began: start, cursor or marks. in_start: when, in microseconds of the real clock. in_took: how long it took, in
microseconds; a scan that was slow for the first time is measured again, without its locks. in_max: how many were asked
for. in_entries: what it found, a JSON array. in_now: the time of the call.
Locks: shared cursors that are past their time; what others have locked is left.'
keep: begin
    declare v_cursor longtext default in_cursor;
    declare v_path varchar(30) character set ascii default '$.lanes[0]';
    declare v_lane, v_rank int default 0;
    declare v_took bigint default in_took;
    declare v_last, v_due, v_again, v_id bigint;
    declare c cursor for -- as they are now: an old snapshot may have them without a place
        select r.ready_rank, max(r.ready_at)
        from (
            select q.ready_rank, q.ready_at from messages(coalesce(in_entries, '[]')) q for update of q) r
        group by r.ready_rank order by r.ready_rank;
    if in_from = 'start' then
        if in_took >= if(json_length(in_cursor) > 0, 5000, 1000 + 15 * in_max)
            and coalesce(in_cursor -> 'took', 0) <= 5000 then
            call _queue_ticks(v_took); -- the machine may have stood still: once more
            select count(*) into v_again from (
                select q.entry from delayed_queue q force index (delayed_queue_ready)
                where q.ready_kind = in_kind and q.scheduled_at <= in_now
                order by q.ready_rank, q.ready_at, q.entry limit in_max) r;
            call _queue_ticks(v_again);
            set v_took = least(in_took, v_again - v_took);
        end if;
        if v_took <= 1000 + 15 * in_max then
            set @pyqueue_cursors = json_set(@pyqueue_cursors, in_path, null);
            call _queue_forget_cursors(in_kind, null);
            leave keep;
        elseif in_cursor is null and v_took < 20000 then
            set @pyqueue_cursors = json_set(@pyqueue_cursors, in_path, json_object());
            leave keep;
        elseif coalesce(json_length(in_cursor), 0) = 0 then
            set v_cursor = json_object('start_at', 0, 'marks_at', 0, 'turn_at', in_start + 3000000, 'took', 0, 'due',
                in_now + 0, 'due_newer', in_now - 3000000, 'due_older', in_now - 3000000, 'lanes', json_array());
        end if;
        set v_cursor = json_set(v_cursor, '$.start_at', in_start + greatest(100000, 50 * v_took), '$.took', v_took + 0);
    elseif in_from = 'marks' then
        set v_cursor = json_set(v_cursor, '$.marks_at', in_start + greatest(400000, 30 * in_took));
    end if;
    set v_due = case in_from when 'start' then 0 when 'marks' then v_cursor -> 'due_older' + 0
        else v_cursor -> 'due' + 0 end;
    -- without an upper end MariaDB reads the whole timetable
    select coalesce(min(d.due_at), in_now) into v_due from delayed_queue d force index (delayed_queue_due)
    where d.p_kind = in_kind and d.due_at between v_due and in_now;
    -- a mark is never ahead of its place
    set v_cursor = json_set(v_cursor, '$.due', v_due + 0, '$.due_newer',
        least(v_cursor -> 'due_newer' + 0, v_due), '$.due_older',
        least(v_cursor -> 'due_older' + 0, v_due));
    for each c into v_rank, v_last do
        while json_extract(v_cursor, concat(v_path, '.rank')) < v_rank do
            set v_lane = v_lane + 1, v_path = concat('$.lanes[', v_lane, ']');
        end while;
        if json_extract(v_cursor, concat(v_path, '.rank')) = v_rank then
            set v_cursor = json_set(v_cursor, concat(v_path, '.place'), v_last + 0, concat(v_path, '.entry'), 0,
                concat(v_path, '.newer'), least(json_extract(v_cursor, concat(v_path, '.newer')) + 0, v_last),
                concat(v_path, '.older'), least(json_extract(v_cursor, concat(v_path, '.older')) + 0, v_last));
        elseif json_length(v_cursor, '$.lanes') < 32 then
            set v_cursor = json_array_insert(v_cursor, v_path,
                json_object('rank', v_rank + 0, 'place', v_last + 0, 'entry', 0, 'newer', v_last - 3000000, 'older',
                v_last - 3000000));
        end if;
    end each;
    if in_start >= v_cursor -> 'turn_at' then
        -- the marks move on to where the cursor is now, every 3 s
        set v_cursor = json_set(v_cursor, '$.turn_at', in_start + 3000000, '$.due_older',
            v_cursor -> 'due_newer' + 0, '$.due_newer', v_cursor -> 'due' + 0), v_lane = 0;
        while v_lane < json_length(v_cursor, '$.lanes') do
            set v_path = concat('$.lanes[', v_lane, '].');
            set v_cursor = json_set(v_cursor,
                concat(v_path, 'older'), json_extract(v_cursor, concat(v_path, 'newer')) + 0,
                concat(v_path, 'newer'), json_extract(v_cursor, concat(v_path, 'place')) + 0);
            set v_lane = v_lane + 1;
        end while;
        if v_cursor -> 'took' > 5000 then -- for sessions that have none
            call _queue_entry(v_id); -- the newest counts
            insert into queue_cursor (id, p_kind, fields) values (v_id, in_kind, v_cursor);
            call _queue_forget_cursors(in_kind, v_id);
        end if;
    end if;
    set @pyqueue_cursors = json_set(@pyqueue_cursors, in_path, json_extract(v_cursor, '$'));
end;
