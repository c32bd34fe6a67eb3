create or replace function _queue_reserve_slotted(in_kind queue_kind, in_max integer, in_now bigint, in_until bigint, in_worker text,
    in_seed bytea, in_where jsonb)
    returns table (p_kind text, p_key text, payload jsonb, payload_bytes bytea, headers jsonb,
        priority smallint, scheduled_at bigint, scheduled_at_initially bigint, created_at bigint, reserved_at bigint,
        attempts integer, reserved_by text, receipt text, errors jsonb) language plpgsql as $$
declare
    v_left integer := in_max;
    v_rounds integer := 0;
    v_looked boolean := false;
    v_held boolean := false;
    v_ended bigint[] := '{}';
    v_passed tid[] := '{}';
    v_taken tid[] := '{}';
    v_take record;
    v_tids tid[];
    v_slots record;
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
        v_slots := _queue_slot_take(v_tids, in_kind, in_until, v_held, in_now);
        v_held := v_slots.held;
        v_passed := v_passed || v_slots.passed || v_slots.tids;
        v_ended := v_ended || v_slots.ended;
        v_rounds := v_rounds + (v_slots.ended = '{}')::integer;
        if v_slots.expired > 0 then
            insert into queue_count (p_kind, reserved, expired) values (in_kind.p_kind, v_slots.expired, v_slots.expired);
        end if;
        if v_take.slow then
            insert into queue_hold (p_kind, until, entries)
            select in_kind.p_kind, in_until, array_agg(q.entry) from delayed_queue q where q.ctid = any (v_slots.tids)
            having count(*) > 0;
        end if;
        v_taken := v_taken || v_slots.tids;
        v_left := in_max - cardinality(v_taken);
    end loop;
    return query
        with u as (
            update delayed_queue q
            set scheduled_at = in_until, reserved_at = in_now, attempts = q.attempts + 1, reserved_by = in_worker,
                secret = substr(sha256(in_seed || int8send(q.entry)), 1, 16)
            where q.ctid = any (v_taken)
            returning q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
                q.scheduled_at_initially, q.created_at, q.reserved_at, q.attempts, q.reserved_by, q.errors, q.entry, q.secret,
                q.ready_at)
        select u.p_kind, u.p_key, u.payload, u.payload_bytes, u.headers, u.priority, u.scheduled_at,
            u.scheduled_at_initially, u.created_at, u.reserved_at, u.attempts, u.reserved_by,
            u.entry || '-' || encode(u.secret, 'hex'), u.errors
        from u order by -u.priority::integer, u.ready_at, u.entry;
    perform _queue_slot_settle(v_ended, null::text[], not v_held, in_now) where v_ended <> '{}';
end $$;

comment on function _queue_reserve_slotted(queue_kind, integer, bigint, bigint, text, bytea, jsonb) is
$$What _queue_reserve_some does for a kind with messages that name semaphores: one of these is taken with a slot of each of its semaphores,
or goes to wait in line, and others are looked for.
The parameters and the result are those of _queue_reserve_some. Locks: the semaphores besides, see _queue_slot_take.$$;
