create or replace function _queue_reserve_limited(in_kind queue_kind, in_max integer, in_now bigint, in_until bigint, in_worker text,
    in_seed bytea, in_where jsonb)
    returns table (p_kind text, p_key text, payload jsonb, payload_bytes bytea, headers jsonb,
        priority smallint, scheduled_at bigint, scheduled_at_initially bigint, created_at bigint, reserved_at bigint,
        attempts integer, reserved_by text, receipt text, errors jsonb) language plpgsql as $$
declare
    v_ticks constant bigint := _queue_ticks();
    v_name text := _queue_bounds_name(in_kind.p_kind);
    v_bounds constant bigint[] := nullif(current_setting(v_name, true), '')::bigint[];
    v_permit record := _queue_permit(in_kind, in_max, in_now);
    v_receipts text[] := '{}';
    v_entry bigint;
    v_place bigint;
begin
    -- the short way of queue_reserve
    if v_permit.allowed = 1 and in_where is null and cardinality(v_bounds) = 19 and in_kind.payload_shape is null and v_bounds[3] <= v_ticks + 4000000
        and v_ticks < least(v_bounds[2], v_bounds[3])
        and v_ticks < v_bounds[1] + (case when v_bounds[4] <= 5000 and random() < 0.95 then 1000000 else 0 end) then
        update delayed_queue q
        set scheduled_at = in_until, reserved_at = in_now, attempts = q.attempts + 1, reserved_by = in_worker, secret = in_seed
        where q.pending is null and q.semaphores is null and q.attempts < coalesce(q.max_attempts, in_kind.max_attempts, 2147483647) and q.ctid = (
            select l.ctid from delayed_queue l
            where l.p_kind = in_kind.p_kind and l.ready_at is not null and l.scheduled_at <= in_now and l.reserved_at is null
                and (-l.priority::integer, l.ready_at, l.entry) >= (v_bounds[13], v_bounds[14], v_bounds[15])
                and not exists (
                    select from delayed_queue d where d.p_kind = in_kind.p_kind and d.due_at between v_bounds[5] and in_now)
                and not exists (
                    select from delayed_queue h where h.p_kind = in_kind.p_kind and h.ready_at is not null
                        and -h.priority::integer < v_bounds[13] and h.scheduled_at <= in_now)
            order by l.p_kind, -l.priority::integer, l.ready_at, l.entry limit 1 for update skip locked)
        returning q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at, q.scheduled_at_initially,
            q.created_at, q.reserved_at, q.attempts, q.reserved_by, q.entry || '-' || encode(in_seed, 'hex'), q.errors, q.entry, q.ready_at
        into p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at, scheduled_at_initially,
            created_at, reserved_at, attempts, reserved_by, receipt, errors, v_entry, v_place;
        if found then
            if v_bounds[4] > 5000 and in_until < in_now + greatest(in_kind.timeout_seconds, 10) * 1000000 then
                insert into queue_hold (p_kind, until, entries) values (in_kind.p_kind, in_until, array[v_entry]);
            end if;
            v_name := set_config(v_name, (case when priority = -v_bounds[13]
                then v_bounds[:13] || v_place || v_entry || v_bounds[16:]
                else v_bounds[:1] || 0::bigint || v_bounds[3:] end)::text, false);
            perform _queue_permit_used(in_kind, v_permit.state, v_permit.slots, v_permit.numbers, array[receipt], in_now);
            return next;
            return;
        end if;
    end if;
    if v_permit.allowed > 0 then
        for p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at, scheduled_at_initially, created_at, reserved_at,
            attempts, reserved_by, receipt, errors in
            select m.* from _queue_reserve_some(in_kind, v_permit.allowed, in_now, in_until, in_worker, in_seed, in_where) m
        loop
            v_receipts := v_receipts || receipt;
            return next;
        end loop;
    end if;
    perform _queue_permit_used(in_kind, v_permit.state, v_permit.slots, v_permit.numbers, v_receipts, in_now);
end $$;

comment on function _queue_reserve_limited(queue_kind, integer, bigint, bigint, text, bytea, jsonb) is
$$What queue_reserve does with a kind that has max_reserved or rate_per_second: as many as there are places and tokens for.
in_kind: the settings of the kind. in_max: how many messages. in_now: the time of the call. in_until: when the hold ends.
in_worker: who takes them. in_seed: what their secrets are made of, with their entries. in_where: what they must match, see
_queue_where; NULL: anything.
Result and locks: those of queue_reserve; before the messages as _queue_permit.$$;
