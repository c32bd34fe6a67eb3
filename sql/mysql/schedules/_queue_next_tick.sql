-- calls: _queue_next_local, _queue_zone_change, _queue_zone_offset
create procedure _queue_next_tick(in in_name text collate exact, in in_after bigint, out out_at bigint)
    comment 'When a rule is due next.
in_name: the schedule with the rule. in_after: after when, in microseconds since 1970-01-01 UTC.
Result: such microseconds; NULL: never again.
differs: the result is out_at; a row can''t be a parameter.'
begin
    declare v_after bigint default in_after div 1000000;
    declare v_every, v_hours, v_until, v_offset, v_late, v_early, v_other, v_local bigint;
    declare v_zone varchar(64);
    select r.every, r.hours, r.zone, r.zone_seconds, r.until_at into v_every, v_hours, v_zone, v_offset, v_until
    from queue_recurring r where r.name = in_name;
    set out_at = (in_after div v_every + 1) * v_every;
    if v_every is null then
        if v_zone is not null then
            call _queue_zone_offset(v_zone, v_after, v_offset);
        end if;
        set v_local = v_after + v_offset;
        times: loop
            call _queue_next_local(in_name, v_local, v_local);
            set out_at = v_local - v_offset;
            if out_at is null or v_zone is null then
                leave times;
            elseif v_hours = 16777215 then
                -- in every hour: as real time goes on, through the doubled hour twice
                call _queue_zone_offset(v_zone, out_at, v_other);
                if v_other = v_offset then
                    leave times;
                end if;
                call _queue_zone_change(v_zone, v_after, out_at, v_after);
                call _queue_zone_offset(v_zone, v_after, v_offset);
                set v_local = v_after + v_offset - 1;
            else
                -- once a local time: the first time that the clock shows it, or when it jumps over it
                call _queue_zone_offset(v_zone, v_local - 86400, v_early);
                call _queue_zone_offset(v_zone, v_local + 86400, v_late);
                set out_at = v_local - v_early;
                call _queue_zone_offset(v_zone, out_at, v_other);
                if v_other <> v_early then
                    set out_at = v_local - v_late;
                    call _queue_zone_offset(v_zone, out_at, v_other);
                    if v_other <> v_late then
                        call _queue_zone_change(v_zone, v_local - 86400, v_local + 86400, out_at);
                    end if;
                end if;
                if out_at > v_after then
                    leave times;
                end if;
            end if;
        end loop;
        set out_at = out_at * 1000000;
    end if;
    if out_at > v_until then
        set out_at = null;
    end if;
end;
