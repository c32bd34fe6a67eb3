-- calls: _queue_next_tick
create or replace function _queue_last_tick(in_rule queue_recurring,
    in_now bigint) returns bigint language plpgsql as $$
declare
    v_end constant bigint := least(in_now, in_rule.until_at);
    v_last bigint := in_rule.next_at;
    v_next bigint;
    v_seconds bigint;
begin
    -- from as late as there is one, so that what was missed for months isn't gone through one by one
    foreach v_seconds in array '{60, 600, 3600, 21600, 86400, 604800, 2764800, 31622400}'::bigint[] loop
        v_next := _queue_next_tick(in_rule, greatest(v_end - v_seconds * 1000000, in_rule.next_at - 1));
        exit when v_next <= v_end;
    end loop;
    while v_next <= v_end loop
        v_last := v_next;
        v_next := _queue_next_tick(in_rule, v_last);
    end loop;
    return v_last;
end $$;

comment on function _queue_last_tick(queue_recurring, bigint) is
$$When a rule was due last.
in_rule: the rule, which is due. in_now: the time of the call.
Result: microseconds since 1970-01-01 UTC, at the earliest next_at.$$;
