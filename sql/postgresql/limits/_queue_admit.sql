-- calls: _queue_lease_tokens, _queue_setting, _queue_slots
create or replace function _queue_admit(in_kind queue_kind, in_max integer, in_now bigint, out allowed integer,
    out state bigint[], out slots integer[], out numbers bigint[]) language plpgsql as $$
declare
    v_age bigint;
    v_lease record;
    v_slots record;
begin
    allowed := in_max;
    state := coalesce(nullif(current_setting(_queue_setting('limits ' || in_kind.p_kind), true), '')::bigint[],
        '{0, 0, 0}');
    if in_kind.rate_per_second is not null then
        v_age := in_now - state[3];
        allowed := case when v_age between 0 and 1000000 then least(in_max, state[2]) else 0 end;
        if allowed < in_max then -- what it has taken ahead isn't enough
            v_lease := _queue_lease_tokens(in_kind.p_kind, in_kind.rate_per_second, in_max,
                case when v_age between 0 and 250000 then floor(in_kind.rate_per_second / 320)::integer
                else 0 end, in_now, state[2]);
            if v_lease.got > 0 then
                allowed := least(in_max, v_lease.got);
                state[2:3] := array[v_lease.got, in_now];
            elsif v_lease.back = 0 then
                allowed := 0;
                state[2] := 0;
            end if;
        end if;
    end if;
    if allowed > 0 and in_kind.max_reserved is not null then
        v_slots := _queue_slots(in_kind.p_kind, in_kind.max_reserved, state[1]::integer, allowed, in_now);
        slots := v_slots.slots;
        numbers := v_slots.numbers;
        allowed := cardinality(slots);
        state[1] := coalesce(slots[1], 0);
    end if;
end $$;

comment on function _queue_admit(queue_kind, integer, bigint) is
$$For how many messages of a kind with max_reserved or rate_per_second there are slots and tokens.
in_kind: the settings of the kind. in_max: how many are wanted. in_now: the time of the call.
Result: allowed; state, which _queue_admitted keeps for the session: the slot it had last, which is free once it has
acked; the tokens that it has taken ahead, and when: 50 ms of the tokens of a part of the bucket, if it took some within
the last quarter of a second; it keeps them for a second, and gives back what is left when it takes some again. slots,
numbers: the slots, see _queue_slots; NULL: the kind has none.
Locks: as _queue_lease_tokens and _queue_slots.$$;
