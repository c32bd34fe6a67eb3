create or replace function _queue_claim(in_kind text, in_slots integer[], in_numbers bigint[], in_receipts text[], in_now bigint)
    returns void language plpgsql as $$
begin
    insert into queue_claim (p_kind, slot, number, entry, secret)
    select in_kind, in_slots[i], in_numbers[i] + 1, left(in_receipts[i], -33)::bigint, decode(right(in_receipts[i], 32), 'hex')
    from generate_subscripts(in_receipts, 1) i
    on conflict on constraint queue_claim_pkey do nothing; -- with an old snapshot this is a serialization error
    if random() < 0.05 then
        with o as (
            select s.slot, s.kept, n.number from unnest(in_slots, in_numbers) n (slot, number)
            join queue_slot s on s.p_kind = in_kind and s.slot = n.slot
            where n.number - s.kept >= 16 and s.kept_at not between in_now - 1000000 and in_now),
        u as (
            update queue_slot s set kept = o.number, kept_at = in_now from o where s.p_kind = in_kind and s.slot = o.slot)
        delete from queue_claim c using o
        where c.p_kind = in_kind and c.slot = o.slot and c.number >= o.kept and c.number < o.number;
    end if;
end $$;

comment on function _queue_claim(text, integer[], bigint[], text[], bigint) is
$$Puts deliveries in places, and removes claims of these that count no more: at most once a second a place, and noting up to which, so that
under an old snapshot neither the place nor what was removed becomes long to read.
in_kind: the kind. in_slots, in_numbers: what _queue_slots answered. in_receipts: the deliveries, as many or fewer. in_now: the time of
the call.
Locks: none but the places, which are locked.$$;
