-- calls: _queue_slots_free
-- changes: queue_slot
create procedure _queue_slots(in in_kind text collate exact, in in_most int, in in_first int, in in_max int,
    in in_now bigint, out out_slots longtext character set ascii)
    comment 'Free slots of a kind with max_reserved, locked until the transaction ends.
in_kind: the kind. in_most: its max_reserved. in_first: the slot to try first, 0: any. in_max: how many. in_now: the
time of the call.
Result: a JSON array, of as many as there are.
While more slots are taken than in_most, because it was lowered, all free ones are locked and counted, so that nobody
gets one before fewer are taken; those above it that are free are removed, unless it is about to change.
Locks: the slots; what others have locked counts as taken. As _queue_slots_free. While more are taken, the settings of
the kind.
differs: no numbers of claims.'
begin
    declare v_low, v_wrap, v_high, v_want, v_last, v_all, v_most int;
    declare v_found, v_free longtext character set ascii;
    declare v_over boolean default false;
    set v_low = if(in_first between 1 and in_most, in_first, 1 + floor(rand() * in_most)), v_wrap = v_low - 1,
        v_high = 2147483647, v_want = in_max, out_slots = '[]';
    select s.slot > in_most into v_over from queue_slot s
    where s.p_kind = in_kind order by s.p_kind desc, s.slot desc limit 1;
    if v_over then
        set v_low = 1, v_want = 2147483647;
    end if;
    slots: loop
        set v_all = v_want - json_length(out_slots);
        select json_arrayagg(d.slot), max(d.slot) into v_found, v_last
        from (
            select s.slot from queue_slot s force index (primary)
            where s.p_kind = in_kind and s.slot between v_low and v_high
                and (
                    select q.entry from delayed_queue q
                    where q.entry = s.entry and q.secret = s.secret and q.scheduled_at > in_now) is null
            order by s.slot limit v_all) d;
        if v_found is not null then
            call _queue_slots_free(in_kind, v_found, in_now, v_free);
            set out_slots = if(v_free is null, out_slots,
                if(out_slots = '[]', v_free, json_merge_preserve(out_slots, v_free))), v_low = v_last + 1;
        elseif v_high > v_wrap and v_wrap > 0 and not v_over then
            set v_low = 1, v_high = v_wrap;
        else
            leave slots;
        end if;
        if json_length(out_slots) = v_want or v_low > v_high then
            leave slots;
        end if;
    end loop;
    if v_over then -- or not any more: what a definition has given since isn't taken away
        select k.max_reserved into v_most from queue_kind k where k.p_kind = in_kind for update skip locked;
        set in_most = coalesce(v_most, in_most);
        select count(*) into v_all from queue_slot s where s.p_kind = in_kind; -- what others have locked counts
        set v_all = greatest(least(in_most - v_all + json_length(out_slots), in_max), 0);
        delete s from unnest(out_slots) f (slot int)
            straight_join queue_slot s force index (primary) on s.p_kind = in_kind and s.slot = f.slot
        where f.slot > v_most;
        select coalesce(json_arrayagg(d.slot), '[]') into out_slots
        from (
            select f.slot from unnest(out_slots) f (slot int)
            where f.slot <= in_most order by f.slot limit v_all) d;
    end if;
end;
