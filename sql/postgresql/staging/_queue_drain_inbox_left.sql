-- changes: queue_inbox
create or replace function _queue_drain_inbox_left(in_max bigint) returns bigint language plpgsql
    set enable_seqscan = off as $$
declare
    v_id bigint;
    v_taken bigint := 0;
begin
    for v_id in select b.id from queue_inbox b order by b.id limit in_max for update skip locked loop
        begin
            with g as (delete from queue_inbox b where b.id = v_id returning b.*)
            insert into queue_inbox (p_kind, p_key, payload, payload_bytes, headers, priority, delay_seconds,
                scheduled_at, attempts, max_attempts)
            select g.p_kind, g.p_key, g.payload, g.payload_bytes, g.headers, g.priority, g.delay_seconds,
                g.scheduled_at, g.attempts, g.max_attempts
            from g;
            v_taken := v_taken + 1;
        exception when sqlstate 'PQ001' or sqlstate 'PQ002' or sqlstate 'PQ003' or sqlstate 'PQ004'
            or sqlstate 'PQ007' then
            raise warning 'the row % of queue_inbox stays there: %', v_id, sqlerrm;
        end;
    end loop;
    return v_taken;
end $$;

comment on function _queue_drain_inbox_left(bigint) is
$$Pushes what stands in the inbox because its trigger was off when it came: while it was disabled, or for what a
subscription brings. A row that is wrong stays, with a warning.
in_max: how many rows at the most.
Result: how many were pushed.
Locks: the rows, and as queue_push.
differs: on MariaDB and MySQL _queue_drain_inbox takes in all that has landed.$$;
