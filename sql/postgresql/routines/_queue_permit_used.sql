create or replace function _queue_permit_used(in_kind queue_kind, in_state bigint[], in_slots integer[], in_numbers bigint[],
    in_receipts text[], in_now bigint) returns void language plpgsql as $$
begin
    if in_kind.rate_per_second is not null then
        in_state[2] := in_state[2] - cardinality(in_receipts);
    end if;
    if in_slots is not null and in_receipts <> '{}' then
        perform _queue_claim(in_kind.p_kind, in_slots, in_numbers, in_receipts, in_now);
    end if;
    perform set_config(_queue_limits_name(in_kind.p_kind), in_state::text, false);
end $$;

comment on function _queue_permit_used(queue_kind, bigint[], integer[], bigint[], text[], bigint) is
$$Counts the tokens that were used, and puts the deliveries in their places. The state of the session is rolled back with the transaction,
as all custom settings are.
in_kind: the settings of the kind. in_state, in_slots, in_numbers: what it answered. in_receipts: the deliveries, as many as were allowed or
fewer. in_now: the time of the call.
Locks: as _queue_claim.$$;
