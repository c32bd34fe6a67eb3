-- changes: delayed_queue
create procedure _queue_slots_free(in in_kind text collate exact, in in_slots longtext character set ascii,
    in in_now bigint, out out_slots longtext character set ascii)
    comment 'Which of some slots are free: nothing is there, or what is isn''t held any more. A hold that has expired
gives up its slot here for good: without reserved_by it can''t be extended any more, though an ack of it still counts.
in_kind: the kind. in_slots: the slots. in_now: the time of the call.
Result: those that are free, a JSON array, or NULL. Under REPEATABLE READ one that changed since the transaction began
counts as taken.
Locks: the slots, then messages whose hold has expired, in the order of their entries; what others have locked counts
as taken.
differs: here it locks the slots, and answers no numbers.'
begin
    declare v_locked longtext;
    declare v_expired longtext character set ascii;
    declare v_number int;
    select json_arrayagg(json_array(d.slot, d.entry, d.secret)) into v_locked
    from (
        select s.slot, s.entry, lower(hex(s.secret)) as secret
        from unnest(in_slots) j (slot int)
            straight_join queue_slot s force index (primary) on s.p_kind = in_kind and s.slot = j.slot
        order by s.slot for update of s skip locked) d;
    set v_locked = coalesce(v_locked, '[]');
    -- without a lock first: it would be taken on what others hold
    select count(*) into v_number
    from json_table(v_locked, '$[*]'
        columns (entry bigint path '$[1]', secret char(32) path '$[2]')) r
        straight_join delayed_queue q force index (primary) on q.entry = r.entry and q.secret = unhex(r.secret)
    where q.scheduled_at <= in_now and q.reserved_by is not null;
    if v_number > 0 then
        select json_arrayagg(d.entry) into v_expired
        from (
            select q.entry
            from json_table(v_locked, '$[*]'
                columns (entry bigint path '$[1]', secret char(32) path '$[2]')) r
                straight_join delayed_queue q force index (primary) on q.entry = r.entry and q.secret = unhex(r.secret)
            where q.scheduled_at <= in_now and q.reserved_by is not null
            order by q.entry for update of q skip locked) d;
        update messages(v_expired) q set q.reserved_by = null;
    end if;
    select json_arrayagg(r.slot) into out_slots
    from unnest(v_locked) r (slot int, entry bigint, secret char(32))
    where r.entry is null
        or (select s.slot from queue_slot s
            where s.p_kind = in_kind and s.slot = r.slot and s.entry = r.entry and s.secret = unhex(r.secret))
            is not null
        and (select q.entry from delayed_queue q
            where q.entry = r.entry and q.secret = unhex(r.secret)
                and (q.scheduled_at > in_now or q.reserved_by is not null)) is null;
end;
