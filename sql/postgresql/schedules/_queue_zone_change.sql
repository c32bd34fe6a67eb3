-- calls: _queue_zone_offset
create or replace function _queue_zone_change(in_zone text, in_from bigint,
    in_to bigint) returns bigint language plpgsql as $$
declare
    v_offset constant bigint := _queue_zone_offset(in_zone, in_from);
    v_before bigint := in_from;
    v_change bigint := in_to;
    v_middle bigint;
begin
    while v_change - v_before > 1 loop
        v_middle := (v_before + v_change) / 2;
        if _queue_zone_offset(in_zone, v_middle) = v_offset then
            v_before := v_middle;
        else
            v_change := v_middle;
        end if;
    end loop;
    return v_change;
end $$;

comment on function _queue_zone_change(text, bigint, bigint) is
$$When a zone changes its offset.
in_zone: its name. in_from, in_to: two times with different offsets, in seconds since 1970-01-01 UTC.
Result: the first second of the other offset.$$;
