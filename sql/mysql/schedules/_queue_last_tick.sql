-- calls: _queue_next_tick
create procedure _queue_last_tick(in in_name text collate exact, in in_now bigint, out out_last bigint)
    comment 'When a rule was due last.
in_name: the schedule with the rule, which is due. in_now: the time of the call.
Result: microseconds since 1970-01-01 UTC, at the earliest next_at.
differs: the result is out_last; a row can''t be a parameter.'
begin
    declare v_end, v_next, v_seconds bigint;
    declare v_left varchar(100) default '60,600,3600,21600,86400,604800,2764800,31622400,';
    select least(in_now, coalesce(r.until_at, in_now)), r.next_at into v_end, out_last from queue_recurring r
        where r.name = in_name;
    -- from as late as there is one, so that what was missed for months isn't gone through one by one
    while v_left <> '' do
        set v_seconds = substring_index(v_left, ',', 1), v_left = substr(v_left, locate(',', v_left) + 1);
        call _queue_next_tick(in_name, greatest(v_end - v_seconds * 1000000, out_last - 1), v_next);
        if v_next <= v_end then
            set v_left = '';
        end if;
    end while;
    while v_next <= v_end do
        set out_last = v_next;
        call _queue_next_tick(in_name, out_last, v_next);
    end while;
end;
