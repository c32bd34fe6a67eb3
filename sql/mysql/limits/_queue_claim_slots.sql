-- changes: queue_slot
create procedure _queue_claim_slots(in in_kind text collate exact, in in_slots longtext character set ascii,
    in in_entries longtext character set utf8mb4, in in_seed varchar(64) character set ascii)
    comment 'Puts deliveries in places.
in_kind: the kind. in_slots: what _queue_slots answered. in_entries: the messages, a JSON array, as many or fewer.
in_seed: what their secrets are made of, see _queue_deliver.
Locks: none but the slots, which are locked.
differs: PostgreSQL appends to queue_claim.'
begin
    declare v_number int default json_length(in_entries);
    declare v_slot int default json_extract(in_slots, '$[0]');
    declare v_entry bigint default json_extract(in_entries, '$[0]');
    if v_number = 1 then
        update queue_slot s set s.entry = v_entry, s.secret = unhex(left(in_seed, 32))
            where s.p_kind = in_kind and s.slot = v_slot;
    else
        update (
            select max(u.slot) as slot, max(u.entry) as entry -- a join of the two arrays would compare each with each
            from (
                select j.place, j.slot, null as entry
                from json_table(in_slots, '$[*]' columns (place for ordinality, slot int path '$')) j
                union all
                select e.place, null, e.entry
                from json_table(in_entries, '$[*]' columns (place for ordinality, entry bigint path '$')) e) u
            group by u.place having entry is not null) d
            straight_join queue_slot s force index (primary) on s.p_kind = in_kind and s.slot = d.slot
        set s.entry = d.entry, s.secret = unhex(left(sha2(concat(in_seed, d.entry), 256), 32));
    end if;
end;
