-- calls: _queue_next_tick, _queue_put, queue_now, queue_timestamp
-- changes: queue_recurring
create or replace function queue_tick(out ticked bigint)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_left integer := 1000;
    v_rule queue_recurring;
    v_at bigint; v_next bigint; v_end bigint;
    v_seconds bigint;
    v_row delayed_queue;
begin
    ticked := 0;
    for v_rule in
        with d as materialized (
            select r.* from queue_recurring r
            where r.next_at <= v_now and not r.paused
                and not exists (select from queue_kind k where k.p_kind = r.p_kind and k.draining)
            order by r.next_at limit 100 for update of r skip locked)
        select d.* from d order by d.p_kind, d.name
    loop
        exit when v_left <= 0;
        v_at := v_rule.next_at;
        if v_rule.catch_up <> 'all' then
            v_end := least(v_now, v_rule.until_at);
            -- from as late as there is one, so that what was missed for months isn't gone through one by one
            foreach v_seconds in array '{60, 600, 3600, 21600, 86400, 604800, 2764800, 31622400}'::bigint[] loop
                v_next := _queue_next_tick(v_rule, greatest(v_end - v_seconds * 1000000, v_at - 1));
                exit when v_next <= v_end;
            end loop;
            while v_next <= v_end loop
                v_at := v_next;
                v_next := _queue_next_tick(v_rule, v_at);
            end loop;
        end if;
        if v_rule.catch_up = 'skip' and v_at < v_now - 60000000 then
            v_at := _queue_next_tick(v_rule, v_at);
        end if;
        while v_at <= v_now and v_left > 0 loop
            v_row.p_kind := v_rule.p_kind;
            v_row.p_key := v_rule.name || '@' ||
                to_char(queue_timestamp(v_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
            v_row.payload := v_rule.payload;
            v_row.headers := nullif(nullif(v_rule.push_options -> 'headers', 'null'), '{}');
            v_row.priority := coalesce((v_rule.push_options ->> 'priority')::numeric, 0)::smallint;
            v_row.scheduled_at := v_now
                + (coalesce((v_rule.push_options ->> 'delay_seconds')::numeric, 0) * 1000000)::bigint;
            v_row.attempts := 0;
            v_row.max_attempts := (v_rule.push_options ->> 'max_attempts')::numeric::integer;
            if (_queue_put(v_row, 'ignore', null::bigint, v_now)).outcome = 'created' then
                ticked := ticked + 1;
            end if;
            v_rule.last_at := v_at;
            v_at := _queue_next_tick(v_rule, v_at);
            v_left := v_left - 1;
        end loop;
        update queue_recurring r set next_at = v_at, last_at = v_rule.last_at where r.name = v_rule.name;
    end loop;
end $$;

comment on function queue_tick() is
$$Pushes what the schedules are due for, see queue_schedule: at most 1000 messages and 100 schedules a call, those first
that have been due the longest. Any number may call it at any time, and a worker does so now and then: an occurrence
makes one message, because only one call at a time has a schedule, and because its message has a key. A kind that is
drained gets none; it is caught up with once that ends. What isn't of its payload_shape is dead at the next reserve.
Result: ticked: how many messages were made.
Locks: the schedules that are due; what others have locked is passed over.$$;
