-- calls: _queue_lease_tokens, _queue_setting
-- changes: queue_claim, queue_slot
create or replace function _queue_admitted(in_kind queue_kind, in_state bigint[], in_slots integer[],
    in_numbers bigint[], in_receipts text[], in_now bigint) returns void language plpgsql as $$
declare
    v_ahead constant bigint := floor(in_kind.rate_per_second / 320);
begin
    if in_kind.rate_per_second is not null then
        in_state[2] := in_state[2] - cardinality(in_receipts);
        if in_state[2] > v_ahead then -- what is not taken ahead is for whoever wants it
            perform _queue_lease_tokens(in_kind.p_kind, in_kind.rate_per_second, 0, 0, in_now, in_state[2] - v_ahead);
            in_state[2] := v_ahead;
        end if;
    end if;
    if in_slots is not null and in_receipts <> '{}' then
        insert into queue_claim (p_kind, slot, number, entry, secret)
        select in_kind.p_kind, a.slot, a.number + 1, left(a.receipt, -33)::bigint, decode(right(a.receipt, 32), 'hex')
        from unnest(in_slots, in_numbers, in_receipts) a (slot, number, receipt) where a.receipt is not null
        on conflict on constraint queue_claim_pkey do nothing; -- with an old snapshot this is a serialization error
        if random() < 0.05 then -- claims that count no more, at most once a second a slot
            with o as (
                select s.slot, s.kept, n.number from unnest(in_slots, in_numbers) n (slot, number)
                join queue_slot s on s.p_kind = in_kind.p_kind and s.slot = n.slot
                where n.number - s.kept >= 16 and s.kept_at not between in_now - 1000000 and in_now),
            -- up to which they are gone, so that under an old snapshot neither the slot nor they become long to read
            u as (
                update queue_slot s set kept = o.number, kept_at = in_now from o
                    where s.p_kind = in_kind.p_kind and s.slot = o.slot)
            delete from queue_claim c using o
            where c.p_kind = in_kind.p_kind and c.slot = o.slot and c.number >= o.kept and c.number < o.number;
        end if;
    end if;
    perform set_config(_queue_setting('limits ' || in_kind.p_kind), in_state::text, false);
end $$;

comment on function _queue_admitted(queue_kind, bigint[], integer[], bigint[], text[], bigint) is
$$Counts the tokens that were used, gives back what was neither used nor taken ahead, and puts the deliveries in their
slots. Now and then it removes claims of these slots that count no more. The state of the session is rolled back with
the transaction, as all custom settings are.
in_kind: the settings of the kind. in_state, in_slots, in_numbers: what it answered. in_receipts: the deliveries, as
many as were allowed or fewer. in_now: the time of the call.
Locks: the slots, which are locked already; a part of the bucket, as _queue_lease_tokens.$$;
