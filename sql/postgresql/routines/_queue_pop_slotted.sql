create or replace function _queue_pop_slotted(in_kind queue_kind, in_max integer, in_now bigint, in_where jsonb)
    returns table (p_kind text, p_key text, payload jsonb, payload_bytes bytea, headers jsonb,
        priority smallint, scheduled_at bigint, scheduled_at_initially bigint, created_at bigint, reserved_at bigint,
        attempts integer, reserved_by text) language plpgsql as $$
declare
    v_left integer := in_max;
    v_rounds integer := 0;
    v_looked boolean := false;
    v_entries bigint[] := '{}';
    v_take record;
    v_slots record;
    v_row delayed_queue;
begin
    while v_left > 0 and v_rounds < 100 loop
        if in_where is null then
            v_take := _queue_take(in_kind.p_kind, v_left, in_now);
        else
            v_take := _queue_take_where(in_kind, v_left, in_now, in_where);
        end if;
        if v_take.tids is null then
            exit when v_looked or _queue_slot_look(in_kind.p_kind, v_left, in_now) = 0;
            v_looked := true;
            continue;
        end if;
        v_slots := _queue_slot_take(v_take.tids, in_kind, in_now + 1, v_rounds = 0 and not v_looked, in_now);
        v_rounds := v_rounds + 1;
        if v_take.expired > 0 then
            insert into queue_count (p_kind, reserved, expired) values (in_kind.p_kind, v_take.expired, v_take.expired);
        end if;
        for v_row in
            with d as (delete from delayed_queue q where q.ctid = any (v_slots.tids) returning q.*)
            select d.* from d order by -d.priority::integer, d.ready_at, d.entry
        loop
            insert into queue_count (p_kind, pushed, popped) values (in_kind.p_kind, (v_row.source_kind is null)::integer, 1);
            perform _queue_keep(v_row, 'popped', null, in_now);
            v_entries := v_entries || v_row.entry;
            v_left := v_left - 1;
            return query select v_row.p_kind, v_row.p_key, v_row.payload, v_row.payload_bytes, v_row.headers, v_row.priority,
                v_row.scheduled_at, v_row.scheduled_at_initially, v_row.created_at, in_now, v_row.attempts + 1, null::text;
        end loop;
        exit when not v_slots.more;
    end loop;
    perform _queue_slot_settle(v_entries, null, false, in_now);
end $$;

comment on function _queue_pop_slotted(queue_kind, integer, bigint, jsonb) is
$$What _queue_pop_some does for a kind with messages that name semaphores: one of these is taken where there is a slot of each, which
is free again when the call's transaction ends.
The parameters and the result are those of _queue_pop_some. Locks: the semaphores besides, see _queue_slot_take.$$;
