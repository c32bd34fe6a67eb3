-- calls: _queue_entry, _queue_forget_cursors
-- changes: queue_cursor
drop procedure if exists _queue_turn_marks;
delimiter $$
create procedure _queue_turn_marks(in in_kind text collate exact, in in_start bigint,
    inout out_cursor longtext character set utf8mb4)
    comment 'Moves the marks on to where the cursor is now, every 3 s, and leaves the cursor for sessions that have
none, where a scan from the start takes more than 5 ms.
in_kind: the kind. in_start: when the scan began, in microseconds of _queue_ticks. out_cursor: the cursor.
differs: on PostgreSQL _queue_keep_cursor does it.'
begin
    declare v_lane int default 0;
    declare v_path varchar(30) character set ascii;
    declare v_id bigint;
    set out_cursor = json_set(out_cursor, '$.turn_at', in_start + 3000000, '$.due_older',
        json_extract(out_cursor, '$.due_newer') + 0, '$.due_newer', json_extract(out_cursor, '$.due') + 0);
    while v_lane < json_length(out_cursor, '$.lanes') do
        set v_path = concat('$.lanes[', v_lane, '].');
        set out_cursor = json_set(out_cursor,
            concat(v_path, 'older'), json_extract(out_cursor, concat(v_path, 'newer')) + 0,
            concat(v_path, 'newer'), json_extract(out_cursor, concat(v_path, 'place')) + 0);
        set v_lane = v_lane + 1;
    end while;
    if json_extract(out_cursor, '$.took') > 5000 then
        call _queue_entry(v_id); -- the newest counts
        insert into queue_cursor (id, p_kind, fields) values (v_id, in_kind, out_cursor);
        call _queue_forget_cursors(in_kind, v_id);
    end if;
end $$
delimiter ;
