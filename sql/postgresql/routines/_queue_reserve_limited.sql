create or replace function _queue_reserve_limited(in_kind queue_kind, in_max integer, in_now bigint, in_until bigint, in_worker text,
    in_seed bytea, in_where jsonb)
    returns table (p_kind text, p_key text, payload jsonb, payload_bytes bytea, headers jsonb,
        priority smallint, scheduled_at bigint, scheduled_at_initially bigint, created_at bigint, reserved_at bigint,
        attempts integer, reserved_by text, receipt text) language plpgsql as $$
declare
    v_name text := _queue_limits_name(in_kind.p_kind);
    v_state bigint[] := coalesce(nullif(current_setting(v_name, true), '')::bigint[], '{0, 0, 0}');
    v_left integer := in_max;
    v_tokens record;
    v_slots record;
    v_receipts text[] := '{}';
begin
    if in_kind.rate_per_second is not null then
        v_tokens := _queue_tokens(in_kind, in_max, in_now, v_state);
        v_state := v_tokens.state;
        v_left := least(v_left, v_tokens.tokens);
    end if;
    if v_left > 0 and in_kind.max_reserved is not null then
        v_slots := _queue_slots(in_kind.p_kind, in_kind.max_reserved, v_state[1]::integer, v_left, in_now);
        v_left := cardinality(v_slots.slots);
        v_state[1] := coalesce(v_slots.slots[1], 0);
    end if;
    if v_left = 1 and in_where is null and not coalesce(in_kind.semaphores, false) then
        select m.* into p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at, scheduled_at_initially, created_at,
            reserved_at, attempts, reserved_by, receipt
        from _queue_reserve_next(in_kind, in_now, in_until, in_worker, in_seed) m;
        if found then
            v_left := 0;
            v_receipts := array[receipt];
            return next;
        end if;
    end if;
    if v_left > 0 then
        for p_kind, p_key, payload, payload_bytes, headers, priority, scheduled_at, scheduled_at_initially, created_at, reserved_at,
            attempts, reserved_by, receipt in
            select m.* from _queue_reserve_some(in_kind, v_left, in_now, in_until, in_worker, in_seed, in_where) m
        loop
            v_receipts := v_receipts || receipt;
            return next;
        end loop;
    end if;
    if in_kind.rate_per_second is not null then
        v_state[2] := v_state[2] - cardinality(v_receipts);
    end if;
    if in_kind.max_reserved is not null and v_receipts <> '{}' then
        perform _queue_claim(in_kind.p_kind, v_slots.slots, v_slots.numbers, v_receipts, in_now);
    end if;
    v_name := set_config(v_name, v_state::text, false);
end $$;

comment on function _queue_reserve_limited(queue_kind, integer, bigint, bigint, text, bytea, jsonb) is
$$What queue_reserve does with a kind that has max_reserved or rate_per_second: as many as there are places and tokens for.
in_kind: the settings of the kind. in_max: how many messages. in_now: the time of the call. in_until: when the hold ends.
in_worker: who takes them. in_seed: what their secrets are made of, with their entries. in_where: what they must match, see
_queue_where; NULL: anything.
Result and locks: those of queue_reserve; before the messages as _queue_lease and _queue_slots.
state, kept by the session: the place it had last, which is free once it has acked; the tokens that it has taken ahead, and when. It is
rolled back with the transaction, as all custom settings are.$$;
