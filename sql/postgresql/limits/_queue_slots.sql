-- changes: delayed_queue, queue_claim, queue_slot
create or replace function _queue_slots(in_kind text, in_most integer, in_first integer, in_max integer, in_now bigint,
    out slots integer[], out numbers bigint[]) language plpgsql as $$
declare
    v_low integer := case when in_first between 1 and in_most then in_first else 1 + floor(random() * in_most) end;
    v_high integer := 2147483647;
    v_wrap constant integer := v_low - 1;
    v_want integer := in_max;
    v_locked integer[];
    v_free record;
    v_over boolean;
    v_number bigint;
    v_most integer;
begin
    if in_max = 1 and in_first between 1 and in_most then -- mostly the slot that the session had last
        perform from queue_slot s where s.p_kind = in_kind and s.slot = in_first for update skip locked;
        if found then
            select n.number into v_number
            from (
                select c.number, c.entry, c.secret from queue_claim c where c.p_kind = in_kind and c.slot = in_first
                order by c.p_kind desc, c.slot desc, c.number desc limit 1) n
            where not exists (
                    select from delayed_queue q
                    where q.entry between n.entry and n.entry and q.secret = n.secret
                        and (q.scheduled_at > in_now or q.reserved_by is not null))
                and not exists (select from queue_slot s where s.p_kind = in_kind and s.slot > in_most);
            if found then
                slots := array[in_first];
                numbers := array[v_number];
                return;
            end if;
        end if;
    end if;
    slots := '{}';
    numbers := '{}';
    v_over := exists (select from queue_slot s where s.p_kind = in_kind and s.slot > in_most);
    if v_over then
        v_low := 1;
        v_want := 2000000000;
    end if;
    loop
        v_locked := array(
            select s.slot from queue_slot s
            where s.p_kind = in_kind and s.slot between v_low and v_high
                and not exists (
                    select from (
                        select c.entry, c.secret from queue_claim c where c.p_kind = s.p_kind and c.slot = s.slot
                        order by c.p_kind desc, c.slot desc, c.number desc limit 1) n, delayed_queue q
                    where q.entry between n.entry and n.entry and q.secret = n.secret and q.scheduled_at > in_now)
            order by s.p_kind, s.slot limit v_want - cardinality(slots) for update of s skip locked);
        for i in 1 .. 2 loop -- as it is now that they are locked
            select coalesce(array_agg(s.slot), '{}') as slots, coalesce(array_agg(coalesce(c.number, 0)), '{}')
                as numbers, array_agg(q.entry) filter (where q.reserved_by is not null) as expired
            into v_free
            from unnest(v_locked) s (slot)
            left join lateral (
                select n.number, n.entry, n.secret from queue_claim n where n.p_kind = in_kind and n.slot = s.slot
                order by n.p_kind desc, n.slot desc, n.number desc limit 1) c on true
            left join delayed_queue q on q.entry between c.entry and c.entry and q.secret = c.secret
            where q.entry is null or q.scheduled_at <= in_now and (i = 1 or q.reserved_by is null);
            exit when v_free.expired is null;
            update delayed_queue q set reserved_by = null -- so that it can't be extended any more
            where q.entry = any (array(
                select e.entry from delayed_queue e where e.entry = any (v_free.expired) and e.scheduled_at <= in_now
                order by e.entry + 0 for update skip locked));
        end loop;
        slots := slots || v_free.slots;
        numbers := numbers || v_free.numbers;
        exit when cardinality(slots) = v_want;
        if v_locked <> '{}' then
            v_low := v_locked[cardinality(v_locked)] + 1;
        elsif v_low > v_wrap and v_high > v_wrap and v_wrap > 0 and not v_over then
            v_low := 1;
            v_high := v_wrap;
        else
            exit;
        end if;
    end loop;
    if v_over then -- or not any more: what a definition has given since isn't taken away
        select k.max_reserved into v_most from queue_kind k where k.p_kind = in_kind for share skip locked;
        in_most := coalesce(v_most, in_most);
        v_want := greatest(in_most - (
            -- what others have locked counts
            select count(*) from queue_slot s where s.p_kind = in_kind and s.slot <> all (slots)), 0);
        delete from queue_claim c where c.p_kind = in_kind and c.slot > v_most and c.slot = any (slots);
        delete from queue_slot s where s.p_kind = in_kind and s.slot > v_most and s.slot = any (slots);
        select coalesce(array_agg(f.slot), '{}'), coalesce(array_agg(f.number), '{}') into slots, numbers
        from (
            select f.slot, f.number from unnest(slots, numbers) f (slot, number) where f.slot <= in_most
            order by f.slot limit least(v_want, in_max)) f;
    end if;
end $$;

comment on function _queue_slots(text, integer, integer, integer, bigint) is
$$Free slots of a kind with max_reserved, locked until the transaction ends: nothing is there, or what is isn't held any
more. A hold that has expired gives up its slot here for good: without reserved_by it can't be extended any more, though
an ack of it still counts.
in_kind: the kind. in_most: its max_reserved. in_first: the slot to try first, 0: any. in_max: how many. in_now: the
time of the call.
Result: slots, as many as there are, and for each the number of its last claim, 0 where there is none.
While more slots are taken than in_most, because it was lowered, all free ones are locked and counted, so that nobody
gets one before fewer are taken; those above it that are free are removed, unless it is about to change.
Locks: the slots, then messages whose hold has expired, in the order of their entries; what others have locked counts as
taken. While more are taken, the settings of the kind, shared.$$;
