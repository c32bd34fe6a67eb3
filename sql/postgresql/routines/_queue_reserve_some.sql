create or replace function _queue_reserve_some(in_kind queue_kind, in_max integer, in_now bigint, in_until bigint, in_worker text,
    in_seed bytea, in_where jsonb)
    returns table (p_kind text, p_key text, payload jsonb, payload_bytes bytea, headers jsonb,
        priority smallint, scheduled_at bigint, scheduled_at_initially bigint, created_at bigint, reserved_at bigint,
        attempts integer, reserved_by text, receipt text, errors jsonb) language plpgsql as $$
declare
    v_left integer := in_max;
    v_take record;
    v_rows integer;
    v_slotted boolean := in_kind.semaphores;
begin
    perform _queue_groups_due(in_now);
    loop
        if v_slotted then
            v_take := _queue_take_slotted(in_kind, v_left, in_now, in_until, in_where, false);
        elsif in_where is null then
            v_take := _queue_take(in_kind.p_kind, v_left, in_now);
        else
            v_take := _queue_take_where(in_kind, v_left, in_now, in_where);
        end if;
        exit when v_take.tids is null;
        if v_take.slow then
            insert into queue_hold (p_kind, until, entries)
            select in_kind.p_kind, in_until, array_agg(q.entry) from delayed_queue q where q.ctid = any (v_take.tids)
            having count(*) > 0;
        end if;
        return query
            with u as (
                update delayed_queue q
                set scheduled_at = in_until, reserved_at = in_now, attempts = q.attempts + 1, reserved_by = in_worker,
                    secret = substr(sha256(in_seed || int8send(q.entry)), 1, 16)
                where q.ctid = any (v_take.tids) and q.pending is null and (v_slotted or q.semaphores is null or q.source_kind is not null)
                    and q.attempts < coalesce(q.max_attempts, in_kind.max_attempts, 2147483647)
                    and (in_kind.payload_shape is null or _queue_misfit(in_kind.payload_shape, q.payload) is null)
                returning q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
                    q.scheduled_at_initially, q.created_at, q.reserved_at, q.attempts, q.reserved_by, q.errors, q.entry, q.secret,
                    q.ready_at)
            select u.p_kind, u.p_key, u.payload, u.payload_bytes, u.headers, u.priority, u.scheduled_at,
                u.scheduled_at_initially, u.created_at, u.reserved_at, u.attempts, u.reserved_by,
                u.entry || '-' || encode(u.secret, 'hex'), u.errors
            from u order by -u.priority::integer, u.ready_at, u.entry;
        get diagnostics v_rows = row_count;
        if v_rows < cardinality(v_take.tids) and exists (
            select from delayed_queue q where q.ctid = any (v_take.tids) and q.semaphores is not null and q.source_kind is null
                and q.scheduled_at <= in_now)
        then -- the mark of the kind was lost: all that is left is found again
            v_slotted := true;
            v_take.expired := v_take.expired - (
                select count(q.reserved_at) from delayed_queue q where q.ctid = any (v_take.tids) and q.scheduled_at <= in_now);
        end if;
        if v_take.expired > 0 then
            insert into queue_count (p_kind, reserved, expired) values (in_kind.p_kind, v_take.expired, v_take.expired);
        end if;
        exit when v_rows = cardinality(v_take.tids);
        v_left := v_left - v_rows;
        continue when v_slotted;
        perform _queue_end_expired(v_take.tids, in_now);
        exit when v_left = 0;
    end loop;
    if v_slotted then
        perform _queue_slot_settle(v_take.ended, null::text[], not v_take.held, in_now) where v_take.ended <> '{}';
    end if;
end $$;

comment on function _queue_reserve_some(queue_kind, integer, bigint, bigint, text, bytea, jsonb) is
$$What queue_reserve does in all cases but the most frequent.
in_kind: the settings of the kind. in_max: how many messages. in_now: the time of the call. in_until: when the hold ends.
in_worker: who takes them. in_seed: what their secrets are made of, with their entries. in_where: what they
must match, see _queue_where; NULL: anything.
Result and locks: those of queue_reserve.$$;
