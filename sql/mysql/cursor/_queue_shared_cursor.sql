create procedure _queue_shared_cursor(in in_kind text collate exact, in in_path varchar(1200) character set ascii,
    in in_start bigint, in in_now bigint)
    comment 'Takes over the cursor that another session left, for a session that has none yet for this kind; nothing
where there is none, or it is of the future.
in_kind: the kind. in_path: where @pyqueue_cursors has the kind. in_start: the real time, in microseconds. in_now: the
time of the call.'
begin
    declare v_cursor longtext default 'null';
    declare v_lane int default 0;
    declare continue handler for not found begin end;
    select c.fields into v_cursor from queue_cursor c force index (queue_cursor_kind)
    where c.p_kind = in_kind order by c.id desc limit 1;
    while v_lane < json_length(v_cursor, '$.lanes') do
        if json_extract(v_cursor, concat('$.lanes[', v_lane, '].place')) > in_now then
            set v_cursor = 'null';
        end if;
        set v_lane = v_lane + 1;
    end while;
    if v_cursor <> 'null' and rand() < 0.95 then
        -- many that come new needn't all look from the marks at once
        set v_cursor = json_set(v_cursor, '$.marks_at', in_start + 1000000);
    end if;
    set @pyqueue_cursors = json_set(@pyqueue_cursors, in_path, json_extract(v_cursor, '$'));
end;
