create procedure _queue_ticks(out out_ticks bigint)
    comment 'The real time in microseconds, for measuring how long something takes; what a message''s times are compared
with is queue_now(). A test that wants no scan to be slow lets it stand still.
out_ticks: the time, of the session''s zone: an hour that comes twice is an hour in which little is measured.'
begin
    set out_ticks = timestampdiff(microsecond, '1970-01-01 00:00:00', sysdate(6));
end;
