-- calls: _queue_random
create procedure _queue_key(in in_now bigint, out out_key text collate exact)
    comment 'A key for a message that came without: a UUID of version 7, so that new keys stand at the end of the index.
in_now: the time of the call.
Result: the UUID; its order is that of the microseconds, then random.
Where the idea comes from: RFC 9562, section 6.2, method 3.
differs: the result is out_key.'
begin
    declare v_random varchar(64) character set ascii;
    declare v_time char(12) character set ascii default lpad(hex(in_now div 1000), 12, '0');
    call _queue_random(v_random);
    set out_key = lower(concat_ws('-', left(v_time, 8), right(v_time, 4),
        concat('7', lpad(hex(in_now % 1000 * 4096 div 1000), 3, '0')),
        concat(elt(1 + ascii(v_random) % 4, '8', '9', 'a', 'b'), substr(v_random, 2, 3)), substr(v_random, 5, 12)));
end;
