-- calls: _queue_check_name, _queue_fail
-- changes: queue_reader
create procedure queue_read_ack(in in_reader text collate exact, in in_position bigint)
    comment 'A reader is done with the log up to a position: its next read begins after it.
in_reader: the reader. in_position: the last position that it is done with, as queue_read has shown it; one that is
behind its place leaves that as it is, so that an ack may come twice or late.
Result: reader, position: its place now.
Errors: PQ001 for reader and position, PQ004 for a reader that has never read.
Locks: the reader.'
begin
    declare v_place, v_log, v_gone bigint;
    declare continue handler for not found begin end;
    begin atomic
        call _queue_check_name(in_reader, 200, 'reader');
        set v_place = null;
        select r.position into v_place from queue_reader r where r.reader = in_reader for update;
        if v_place is null then
            call _queue_fail('PQ004', 'reader', in_reader, 'has read nothing yet');
        end if;
        select max(l.position) into v_log from queue_log l;
        select max(g.position) into v_gone from queue_log_gone g;
        if in_position is null or in_position < 0
            or in_position > greatest(v_place, coalesce(v_log, 0), coalesce(v_gone, 0)) then
            call _queue_fail('PQ001', 'position', in_position, 'must be one that queue_read has shown');
        elseif in_position > v_place then
            update queue_reader r set r.position = in_position where r.reader = in_reader;
            set v_place = in_position;
        end if;
    end atomic;
    select in_reader as reader, v_place as position;
end;
