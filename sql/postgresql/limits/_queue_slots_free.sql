-- changes: delayed_queue
create or replace function _queue_slots_free(in_kind text, in_slots integer[], in_now bigint, out slots integer[],
    out numbers bigint[]) language plpgsql as $$
declare
    v_expired bigint[];
begin
    for i in 1 .. 2 loop
        select coalesce(array_agg(s.slot), '{}'), coalesce(array_agg(coalesce(c.number, 0)), '{}'),
            array_agg(q.entry) filter (where q.reserved_by is not null)
        into slots, numbers, v_expired
        from unnest(in_slots) s (slot)
        left join lateral (
            select n.number, n.entry, n.secret from queue_claim n where n.p_kind = in_kind and n.slot = s.slot
            order by n.p_kind desc, n.slot desc, n.number desc limit 1) c on true
        left join delayed_queue q on q.entry between c.entry and c.entry and q.secret = c.secret
        where q.entry is null or q.scheduled_at <= in_now and (i = 1 or q.reserved_by is null);
        exit when v_expired is null;
        update delayed_queue q set reserved_by = null
        where q.entry = any (array(
            select e.entry from delayed_queue e where e.entry = any (v_expired) and e.scheduled_at <= in_now
            order by e.entry + 0 for update skip locked));
    end loop;
end $$;

comment on function _queue_slots_free(text, integer[], bigint) is
$$Which of some slots are free: nothing was claimed there, or what was isn't held any more. A hold that has expired
gives up its slot here for good: without reserved_by it can't be extended any more, though an ack of it still counts.
in_kind: the kind. in_slots: the slots, locked. in_now: the time of the call.
Result: slots, and for each the number of its last claim, 0 where there is none.
Locks: messages whose hold has expired, in the order of their entries; one that somebody else has locked keeps its
slot.$$;
