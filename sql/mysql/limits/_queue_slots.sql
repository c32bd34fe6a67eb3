-- changes: delayed_queue, queue_slot
create procedure _queue_slots(in in_kind text collate exact, in in_most int, in in_first int, in in_max int,
    in in_now bigint, out out_slots longtext character set ascii)
    comment 'Free slots of a kind with max_reserved, locked until the transaction ends: nothing is there, or what is
isn''t held any more. A hold that has expired gives up its slot here for good: without reserved_by it can''t be extended
any more, though an ack of it still counts.
in_kind: the kind. in_most: its max_reserved. in_first: the slot to try first, 0: any. in_max: how many. in_now: the
time of the call.
Result: a JSON array, of as many as there are. Under REPEATABLE READ one that changed since the transaction began counts
as taken.
While more slots are taken than in_most, because it was lowered, all free ones are locked and counted, so that nobody
gets one before fewer are taken; those above it that are free are removed, unless it is about to change.
Locks: the slots, then messages whose hold has expired, in the order of their entries; what others have locked counts as
taken. While more are taken, the settings of the kind.
differs: no numbers of claims.'
begin
    declare v_low, v_wrap, v_high, v_want, v_last, v_all, v_most, v_number int;
    declare v_found, v_locked, v_expired, v_free longtext character set ascii;
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
            select json_arrayagg(json_array(d.entry, d.secret, d.slot)) into v_locked
            from (
                select s.slot, s.entry, lower(hex(s.secret)) as secret
                from unnest(v_found) j (slot int)
                    straight_join queue_slot s force index (primary) on s.p_kind = in_kind and s.slot = j.slot
                order by s.slot for update of s skip locked) d;
            -- without a lock first: it would be taken on what others hold
            select count(*) into v_number
            from deliveries(v_locked) q where q.scheduled_at <= in_now and q.reserved_by is not null;
            if v_number > 0 then
                select json_arrayagg(d.entry) into v_expired
                from (
                    select q.entry from deliveries(v_locked) q
                    where q.scheduled_at <= in_now and q.reserved_by is not null
                    order by q.entry for update of q skip locked) d;
                update messages(v_expired) q set q.reserved_by = null;
            end if;
            select json_arrayagg(r.slot) into v_free
            from unnest(v_locked) r (entry bigint, secret char(32), slot int)
            where r.entry is null
                or (select s.slot from queue_slot s
                    where s.p_kind = in_kind and s.slot = r.slot and s.entry = r.entry and s.secret = unhex(r.secret))
                    is not null
                and (select q.entry from delayed_queue q
                    where q.entry = r.entry and q.secret = unhex(r.secret)
                        and (q.scheduled_at > in_now or q.reserved_by is not null)) is null;
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
