-- calls: _queue_end_undeliverable, _queue_members_settle, _queue_misfit, _queue_permits_look, _queue_permits_take,
--     _queue_take, _queue_take_where
create procedure _queue_take_with_permits(in in_kind text collate exact, in in_max int, in in_most int,
    in in_shape longtext, in in_until bigint, in in_now bigint, in in_where longtext, out out_entries longtext,
    out out_number int, out out_expired int)
    comment 'What _queue_take does for a kind with messages that name semaphores: one of these is taken with a permit of
each of its semaphores, or goes to wait in line, and others are looked for.
in_shape: payload_shape of the kind. in_until: when the holds end. in_where: what they must match, see _queue_where;
NULL: anything. The other parameters and the result are those of _queue_take; out_expired counts what was ended too.
Locks: the semaphores besides, see _queue_permits_take.
differs: what is past its last delivery is ended in here, and nothing is left to settle.'
begin
    declare v_entries, v_passed, v_left_out, v_payload longtext;
    declare v_misfit varchar(500);
    declare v_number, v_expired, v_ends, v_rounds, v_left, v_place, v_past int default 0;
    declare v_entry, v_woken bigint;
    declare v_looked boolean default false;
    declare v_more boolean default true;
    set out_entries = null, out_number = 0, out_expired = 0, v_passed = '[]';
    rounds: while v_more and out_number < in_max and v_rounds < 100 do
        set v_left = in_max - out_number, v_place = in_max + json_length(v_passed);
        if in_where is null then
            call _queue_take(in_kind, v_place, in_now, in_most, v_entries, v_number, v_expired, v_ends);
        else
            call _queue_take_where(in_kind, v_place, in_now, in_most, in_where, v_entries, v_number, v_expired, v_ends);
        end if;
        if out_number > 0 or v_passed <> '[]' then -- what was found before is found again: it is held only at the end
            select json_arrayagg(n.entry) into v_entries
            from (
                select j.entry
                from unnest(coalesce(v_entries, '[]')) j (place for ordinality, entry bigint)
                    left join unnest(coalesce(out_entries, '[]')) o (entry bigint) on o.entry = j.entry
                    left join unnest(v_passed) p (entry bigint) on p.entry = j.entry
                where o.entry is null and p.entry is null order by j.place limit v_left) n;
        end if;
        if v_ends > 0 then -- those that name semaphores are among them
            select count(*) into v_ends from messages(coalesce(v_entries, '[]')) q
            where q.pending is not null or q.attempts >= coalesce(q.max_attempts, in_most)
            for update of q; -- locked already; an old snapshot may not have it
        end if;
        if v_ends > 0 or in_shape is not null and v_entries is not null then
            if @pyqueue_permit_held is null then
                call _queue_end_undeliverable(v_entries, in_shape, in_most, in_now, v_ends, v_expired);
                set out_expired = out_expired + v_expired;
                if v_ends > 0 then
                    iterate rounds;
                end if;
            else -- a key may be waited for, which nobody does who has locked a semaphore: the next call ends them
                set v_place = json_length(v_entries);
                while v_place > 0 do
                    set v_place = v_place - 1, v_misfit = null,
                        v_entry = json_extract(v_entries, concat('$[', v_place, ']'));
                    select q.pending is not null or q.attempts >= coalesce(q.max_attempts, in_most), q.payload
                    into v_past, v_payload from delayed_queue q where q.entry = v_entry for update;
                    if in_shape is not null and not v_past then
                        call _queue_misfit(in_shape, v_payload, v_misfit);
                    end if;
                    if v_past or v_misfit is not null then
                        set v_passed = json_array_append(v_passed, '$', v_entry + 0),
                            v_entries = json_remove(v_entries, concat('$[', v_place, ']'));
                    end if;
                end while;
            end if;
        end if;
        set v_rounds = v_rounds + 1;
        if json_length(v_entries) > 0 then
            call _queue_permits_take(v_entries, in_kind, in_until, @pyqueue_permit_held is null, in_now, v_entries,
                v_number, v_expired, v_left_out);
            set out_number = out_number + v_number, out_expired = out_expired + v_expired,
                out_entries = if(v_entries is null, out_entries,
                json_merge_preserve(coalesce(out_entries, '[]'), v_entries)),
                v_passed = json_merge_preserve(v_passed, v_left_out);
        elseif v_entries is null then
            if not v_looked then
                if @pyqueue_members is not null then
                    call _queue_members_settle();
                end if;
                call _queue_permits_look(in_kind, v_left, in_now, v_woken);
            end if;
            set v_more = v_woken > 0 and not v_looked, v_looked = true;
        end if;
    end while;
    -- of several looks
    select json_arrayagg(o.entry), out_expired + count(o.reserved_at) into out_entries, out_expired
    from (
        select q.entry, q.reserved_at from messages(coalesce(out_entries, '[]')) q
        order by q.priority desc, q.ready_at, q.entry limit 1000000000 for update of q) o;
end;
