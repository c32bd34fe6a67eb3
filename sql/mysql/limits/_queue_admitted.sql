-- calls: _queue_lease_tokens
-- changes: queue_slot
create procedure _queue_admitted(in in_kind text collate exact, in in_rate decimal(30,6), in in_number int,
    in in_tokens bigint, in in_slots longtext character set ascii, in in_entries longtext,
    in in_seed varchar(64) character set ascii, in in_now bigint)
    comment 'Gives back the tokens that were not used, and puts the deliveries in their slots.
in_kind: the kind. in_rate: its rate_per_second. in_number: how many messages were delivered; NULL: none. in_tokens,
in_slots: what _queue_admit took for them; in_slots NULL: the kind has none. in_entries: the messages, a JSON array, as
many as slots or fewer; NULL: none. in_seed: what their secrets are made of, see _queue_deliver. in_now: the time of the
call.
Locks: the slots, which are locked already; as _queue_lease_tokens.
differs: PostgreSQL appends to queue_claim, and keeps tokens that are taken ahead.'
begin
    declare v_got, v_entry bigint;
    declare v_slot int;
    if in_tokens > coalesce(in_number, 0) then
        call _queue_lease_tokens(in_kind, in_rate, 0, in_now, in_tokens - coalesce(in_number, 0), v_got);
    end if;
    if in_slots is not null and in_number = 1 then
        set v_slot = json_extract(in_slots, '$[0]'), v_entry = json_extract(in_entries, '$[0]');
        update queue_slot s set s.entry = v_entry, s.secret = unhex(left(in_seed, 32))
            where s.p_kind = in_kind and s.slot = v_slot;
    elseif in_slots is not null and in_number > 1 then
        update (
            select max(u.slot) as slot, max(u.entry) as entry -- a join of the two arrays would compare each with each
            from (
                select j.place, j.slot, null as entry
                from unnest(in_slots) j (place for ordinality, slot int)
                union all
                select e.place, null, e.entry
                from unnest(in_entries) e (place for ordinality, entry bigint)) u
            group by u.place having entry is not null) d
            straight_join queue_slot s force index (primary) on s.p_kind = in_kind and s.slot = d.slot
        set s.entry = d.entry, s.secret = unhex(left(sha2(concat(in_seed, d.entry), 256), 32));
    end if;
end;
