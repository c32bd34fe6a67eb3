-- calls: _queue_check_kinds, _queue_fail, _queue_ready, _queue_ticks, queue_now
create or replace function queue_wait(in_kinds jsonb,
    in_timeout_seconds double precision default null) returns table (p_kind text)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_kinds constant text[] := _queue_check_kinds(in_kinds);
    v_timeout constant double precision := coalesce(in_timeout_seconds, 5);
    v_until bigint;
    v_left bigint;
    v_pause double precision := 0.005;
begin
    if v_timeout < 0 or v_timeout > 300 then -- NaN is greater than any number
        perform _queue_fail('PQ001', 'timeout_seconds', in_timeout_seconds::text, 'must be a number from 0 to 300');
    end if;
    v_until := _queue_ticks() + least(v_timeout, 5) * 1000000;
    loop
        foreach p_kind in array v_kinds loop
            if (_queue_ready(p_kind, queue_now())).ready then
                return next;
                return;
            end if;
        end loop;
        v_left := v_until - _queue_ticks();
        exit when v_left not between 1 and 5000000; -- over that the clock was set back
        perform pg_sleep(least(v_pause, v_left / 1000000.0));
        v_pause := least(v_pause * 1.5, 0.1);
    end loop;
end $$;

comment on function queue_wait(jsonb, double precision) is
$$Waits until a message of one of the kinds may be taken.
in_kinds: a JSON array of 1 to 100 kinds, or one kind as a JSON string.
in_timeout_seconds: how long at the most, 0 to 300; NULL: 5.
Result: p_kind: the first of the kinds that may have something. Another consumer may be about to take it. No row where
the time is over. A paused kind has nothing. On PostgreSQL the call waits 5 s at the most, whatever it is given; if the
server's clock is set back meanwhile, as much longer. A statement that waits is an open snapshot, behind which nothing
can be cleaned away; clients LISTEN there, see queue_listen. Under REPEATABLE READ and SERIALIZABLE the call sees what
was there when the transaction began, and no more.
Errors: PQ001 for kinds and timeout_seconds.
Locks: no row.
Where the idea comes from: the long poll of SQS.$$;
