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
    v_lines bigint[];
    v_rows integer;
    v_passed tid[] := '{}';
    v_taken tid[] := '{}';
    v_take record;
    v_tids tid[];
    v_slots record;
    v_row delayed_queue;
begin
    while v_left > 0 and v_rounds < 100 loop
        if in_where is null then
            v_take := _queue_take(in_kind.p_kind, v_left + cardinality(v_passed), in_now);
        else
            v_take := _queue_take_where(in_kind, v_left + cardinality(v_passed), in_now, in_where);
        end if;
        v_tids := array(
            select t.tid from unnest(v_take.tids) with ordinality t (tid, n) where t.tid <> all (v_passed) order by t.n limit v_left);
        if v_tids = '{}' then
            exit when v_looked or _queue_slot_look(in_kind.p_kind, v_left::bigint, in_now) = 0;
            v_looked := true;
            v_held := true;
            continue;
        end if;
        v_lines := _queue_with_next(array(select q.entry from delayed_queue q where q.ctid = any (v_tids) and q.order_key is not null));
        if not v_held and v_entries = '{}' and v_taken = '{}' then
            perform q.entry from delayed_queue q where q.entry = any (v_lines) order by q.entry + 0 for update;
        else
            -- nobody who has locked a semaphore, or ended a message, waits for another: where the next in a line is locked, lines are left
            perform q.entry from delayed_queue q where q.entry = any (v_lines) for update skip locked;
            get diagnostics v_rows = row_count;
            if v_rows < cardinality(v_lines) then
                v_passed := v_passed || array(select q.ctid from delayed_queue q where q.ctid = any (v_tids) and q.order_key is not null);
                v_tids := array(select t.tid from unnest(v_tids) t (tid) where t.tid <> all (v_passed));
            end if;
        end if;
        v_slots := _queue_slot_take(v_tids, in_kind, in_now + 1, v_held, in_now);
        v_held := v_slots.held;
        v_passed := v_passed || v_slots.passed || v_slots.tids;
        v_entries := v_entries || v_slots.ended;
        v_rounds := v_rounds + (v_slots.ended = '{}')::integer;
        if v_slots.expired > 0 then
            insert into queue_count (p_kind, reserved, expired) values (in_kind.p_kind, v_slots.expired, v_slots.expired);
        end if;
        v_taken := v_taken || v_slots.tids;
        v_left := in_max - cardinality(v_taken);
    end loop;
    -- at the end, or the next in a line might come with the first
    for v_row in
        select q.* from delayed_queue q where q.ctid = any (v_taken) order by -q.priority::integer, q.ready_at, q.entry
    loop
        perform _queue_end(v_row.entry, 'popped', null, in_now);
        v_entries := v_entries || v_row.entry;
        return query select v_row.p_kind, v_row.p_key, v_row.payload, v_row.payload_bytes, v_row.headers, v_row.priority,
            v_row.scheduled_at, v_row.scheduled_at_initially, v_row.created_at, in_now, v_row.attempts + 1, null::text, v_row.errors;
    end loop;
    perform _queue_slot_settle(v_entries, null::text[], not v_held, in_now);
end $$;

comment on function _queue_pop_slotted(queue_kind, integer, bigint, jsonb) is
$$What _queue_pop_some does for a kind with messages that name semaphores: one of these is taken where there is a slot of each, which
is free again when the call's transaction ends.
The parameters and the result are those of _queue_pop_some. Locks: the next in the lines of order keys, then the semaphores, see _queue_slot_take; from then on no message is
waited for.$$;
