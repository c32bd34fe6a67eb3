-- calls: _queue_next_local, _queue_zone_change, _queue_zone_offset
create or replace function _queue_next_tick(in_rule queue_recurring,
    in_after bigint) returns bigint language plpgsql as $$
declare
    v_after bigint := in_after / 1000000;
    v_offset bigint := coalesce(in_rule.zone_seconds, _queue_zone_offset(in_rule.zone, v_after));
    v_local bigint := v_after + v_offset;
    v_late bigint;
    v_at bigint;
begin
    if in_rule.every is not null then
        v_at := (in_after / in_rule.every + 1) * in_rule.every;
        return case when v_at > in_rule.until_at then null else v_at end;
    end if;
    loop
        v_local := _queue_next_local(in_rule, v_local);
        v_at := v_local - v_offset;
        exit when v_at is null or in_rule.zone is null;
        if in_rule.hours = 16777215 then
            -- in every hour: as real time goes on, through the doubled hour twice
            exit when _queue_zone_offset(in_rule.zone, v_at) = v_offset;
            v_after := _queue_zone_change(in_rule.zone, v_after, v_at);
            v_offset := _queue_zone_offset(in_rule.zone, v_after);
            v_local := v_after + v_offset - 1;
        else
            -- once a local time: the first time that the clock shows it, or when it jumps over it
            v_offset := _queue_zone_offset(in_rule.zone, v_local - 86400);
            v_late := _queue_zone_offset(in_rule.zone, v_local + 86400);
            v_at := case when _queue_zone_offset(in_rule.zone, v_local - v_offset) = v_offset then v_local - v_offset
                when _queue_zone_offset(in_rule.zone, v_local - v_late) = v_late then v_local - v_late
                else _queue_zone_change(in_rule.zone, v_local - 86400, v_local + 86400) end;
            exit when v_at > v_after;
        end if;
    end loop;
    return case when v_at * 1000000 > in_rule.until_at then null else v_at * 1000000 end;
end $$;

comment on function _queue_next_tick(queue_recurring, bigint) is
$$When a rule is due next.
in_rule: the rule. in_after: after when, in microseconds since 1970-01-01 UTC.
Result: such microseconds; NULL: never again.$$;
