create or replace function _queue_pop_slotted(in_kind queue_kind, in_max integer, in_now bigint, in_where jsonb)
    returns table (p_kind text, p_key text, payload jsonb, payload_bytes bytea, headers jsonb,
        priority smallint, scheduled_at bigint, scheduled_at_initially bigint, created_at bigint, reserved_at bigint,
        attempts integer, reserved_by text, errors jsonb) language plpgsql as $$
declare
    v_left integer := in_max;
    v_rounds integer := 0;
    v_looked boolean := false;
    v_held boolean := false;
    v_entries bigint[] := '{}';
    v_left_out boolean := false;
    v_lines bigint[];
    v_rows integer;
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
            exit when v_looked or _queue_slot_look(in_kind.p_kind, v_left::bigint, in_now) = 0;
            v_looked := true;
            v_held := true;
            continue;
        end if;
        v_lines := _queue_with_next(array(select q.entry from delayed_queue q where q.ctid = any (v_take.tids) and q.order_key is not null));
        if not v_held and v_entries = '{}' then
            perform q.entry from delayed_queue q where q.entry = any (v_lines) order by q.entry + 0 for update;
        else
            -- nobody who has locked a semaphore, or ended a message, waits for another: where the next in a line is locked, lines are left
            perform q.entry from delayed_queue q where q.entry = any (v_lines) for update skip locked;
            get diagnostics v_rows = row_count;
            if v_rows < cardinality(v_lines) then
                v_take.tids := array(select q.ctid from delayed_queue q where q.ctid = any (v_take.tids) and q.order_key is null);
                v_left_out := true;
            end if;
        end if;
        v_slots := _queue_slot_take(v_take.tids, in_kind, in_now + 1, v_held, in_now);
        v_held := v_slots.held;
        v_entries := v_entries || v_slots.ended;
        v_rounds := v_rounds + v_held::integer; -- the others end or deliver what they found
        if v_slots.expired > 0 then
            insert into queue_count (p_kind, reserved, expired) values (in_kind.p_kind, v_slots.expired, v_slots.expired);
        end if;
        for v_row in
            select q.* from delayed_queue q where q.ctid = any (v_slots.tids) order by -q.priority::integer, q.ready_at, q.entry
        loop
            perform _queue_end(v_row.entry, 'popped', null, in_now);
            v_entries := v_entries || v_row.entry;
            v_left := v_left - 1;
            return query select v_row.p_kind, v_row.p_key, v_row.payload, v_row.payload_bytes, v_row.headers, v_row.priority,
                v_row.scheduled_at, v_row.scheduled_at_initially, v_row.created_at, in_now, v_row.attempts + 1, null::text, v_row.errors;
        end loop;
        exit when v_left_out or not v_slots.more;
    end loop;
    perform _queue_slot_settle(v_entries, null::text[], not v_held, in_now);
end $$;

comment on function _queue_pop_slotted(queue_kind, integer, bigint, jsonb) is
$$What _queue_pop_some does for a kind with messages that name semaphores: one of these is taken where there is a slot of each, which
is free again when the call's transaction ends.
The parameters and the result are those of _queue_pop_some. Locks: the next in the lines of order keys, then the semaphores, see _queue_slot_take; from then on no message is
waited for.$$;
