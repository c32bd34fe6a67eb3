create procedure queue_now(out out_now bigint)
    comment 'The clock of the queue: the database''s wall clock at this moment, in microseconds since 1970-01-01 UTC.
Every routine reads it once a call. It is not the transaction''s start, and no caller can shift it; a test sets the time
by replacing this routine as its owner.
out_now: the time.
differs: a procedure with a parameter for its result, because a function can''t be created on every server.'
begin
    -- SYSDATE is the only clock that SET timestamp doesn't move, and a zone tells the same hour twice when summer ends
    declare v_zone varchar(64) default @@session.time_zone;
    set session time_zone = '+00:00';
    set out_now = timestampdiff(microsecond, '1970-01-01 00:00:00', sysdate(6));
    set session time_zone = v_zone;
end;
