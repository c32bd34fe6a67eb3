-- calls: _queue_zone_offset
create procedure _queue_zone_change(in in_zone varchar(64), in in_from bigint, in in_to bigint, out out_change bigint)
    comment 'When a zone changes its offset.
in_zone: its name. in_from, in_to: two times with different offsets, in seconds since 1970-01-01 UTC.
Result: the first second of the other offset.
differs: the result is out_change.'
begin
    declare v_offset, v_other, v_middle bigint;
    declare v_before bigint default in_from;
    call _queue_zone_offset(in_zone, in_from, v_offset);
    set out_change = in_to;
    while out_change - v_before > 1 do
        set v_middle = (v_before + out_change) div 2;
        call _queue_zone_offset(in_zone, v_middle, v_other);
        if v_other = v_offset then
            set v_before = v_middle;
        else
            set out_change = v_middle;
        end if;
    end while;
end;
