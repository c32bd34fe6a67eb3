-- calls: _queue_matches
-- changes: delayed_queue
create procedure _queue_take_candidates(in in_kind text collate exact, in in_entries longtext, in in_max int,
    in in_now bigint, in in_most int, in in_where longtext, inout out_entries longtext, inout out_number int,
    inout out_expired int, inout out_ends int)
    comment 'Takes those of some messages that a filter matches, in their order, until there are enough: looks, locks,
and sees that nothing has changed.
in_entries: the messages, a JSON array; NULL for none. in_where: the filter, see _queue_where. The other parameters are
those of _queue_take_where; to out_entries and the counts what is taken is added. What has come due goes into the ready
line.
Locks: what is taken; what others have locked is passed over.
differs: on PostgreSQL a statement locks just what a filter matches; InnoDB locks what it reads.'
begin
    declare v_entry, v_found, v_due bigint;
    declare v_matches, v_held, v_ends boolean default false;
    declare v_payload, v_headers longtext;
    declare c cursor for
        select j.entry from unnest(coalesce(in_entries, '[]')) j (place for ordinality, entry bigint) order by j.place;
    declare continue handler for not found begin end;
    messages: for each c into v_entry do
        if out_number >= in_max then
            leave messages;
        end if;
        call _queue_matches(v_entry, in_where, v_matches, v_payload, v_headers);
        if v_matches then
            set v_found = null;
            select q.entry, q.due_at, q.reserved_at is not null, q.pending is not null or q.semaphores is not null
                or q.attempts >= coalesce(q.max_attempts, in_most)
            into v_found, v_due, v_held, v_ends
            from delayed_queue q force index (primary)
            where q.entry = v_entry and q.p_kind = in_kind and q.scheduled_at <= in_now
                and (q.ready_rank is not null or q.due_at <= in_now)
                and concat(if(q.pending_payload is null and q.pending_bytes is null, q.payload, q.pending_payload), '')
                    <=> v_payload
                and concat(if(q.pending_payload is null and q.pending_bytes is null, q.headers, q.pending_headers), '')
                    <=> v_headers
            for update skip locked;
            if v_found is not null then
                if v_due is not null then -- as in _queue_promote
                    update delayed_queue q
                    set q.ready_rank = -q.priority, q.due_at = null, q.ready_at = greatest(v_due, if(exists (
                        select 1 from queue_cursor c where c.p_kind = in_kind), in_now - 1000000 + out_number, 0))
                    where q.entry = v_found;
                end if;
                set out_entries = json_array_append(out_entries, '$', v_found + 0), out_number = out_number + 1,
                    out_expired = out_expired + v_held, out_ends = out_ends + v_ends;
            end if;
        end if;
    end each;
end;
