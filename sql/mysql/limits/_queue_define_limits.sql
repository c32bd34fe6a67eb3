-- calls: _queue_integer, _queue_number
-- changes: delayed_queue, queue_bucket, queue_kind, queue_slot
create procedure _queue_define_limits(in in_kind text collate exact, in in_options longtext, in in_now bigint)
    comment 'Sets max_reserved and rate_per_second of a kind, with the slots and the tokens that they need. What is
held when the first limit is set counts; what goes above a limit that is lowered keeps its slot until its hold ends. A
rate begins with one token.
in_kind: the kind, whose settings are there. in_options: those of queue_define. in_now: the time of the call.
Errors: PQ002.
Locks: the rows of the limits that change: it waits for reserves of the kind that are under way.
differs: PostgreSQL''s is given the settings, and answers them.'
begin
    declare v_most, v_old bigint;
    declare v_rate, v_before decimal(30,6);
    declare v_parts int;
    call _queue_integer(in_options, 'max_reserved', 1, 10000, v_most);
    call _queue_number(in_options, 'rate_per_second', 0.001, 1000000, v_rate);
    select max(k.max_reserved), max(k.rate_per_second) into v_old, v_before from queue_kind k where k.p_kind = in_kind;
    if in_options ? 'max_reserved' and not v_most <=> v_old then
        if v_most is null then
            delete s from queue_slot s where s.p_kind = in_kind;
        else
            if v_old is null then -- what is held already has slots as well
                insert into queue_slot (p_kind, slot, entry, secret)
                select in_kind, row_number() over (order by q.entry), q.entry, q.secret
                from delayed_queue q force index (delayed_queue_ready)
                where q.ready_kind = in_kind and q.secret is not null and q.scheduled_at > in_now;
                -- a hold that has expired has none, so that it can't be extended
                /*M!100600 set statement sql_safe_updates = 0 for */
                update delayed_queue q force index (delayed_queue_ready) set q.reserved_by = null
                where q.ready_kind = in_kind and q.reserved_at is not null and q.scheduled_at <= in_now;
            end if;
            insert into queue_slot (p_kind, slot)
            select in_kind, n.slot
            from unnest(concat('[0', repeat(',0', v_most - 1), ']')) n (slot for ordinality)
            where (select s.slot from queue_slot s where s.p_kind = in_kind and s.slot = n.slot) is null;
        end if;
        update queue_kind k set k.max_reserved = v_most where k.p_kind = in_kind;
    end if;
    if in_options ? 'rate_per_second' and not v_rate <=> v_before then
        delete b from queue_bucket b where b.p_kind = in_kind;
        if v_rate is not null then
            set v_parts = least(greatest(floor(v_rate), 1), 16);
            insert into queue_bucket (p_kind, part, spent_at)
            select in_kind, n.place - 1, in_now * 1000 - round(1000000000 / v_rate * (v_parts - n.place + 1))
            from unnest(concat('[0', repeat(',0', v_parts - 1), ']')) n (place for ordinality);
        end if;
        update queue_kind k set k.rate_per_second = v_rate where k.p_kind = in_kind;
    end if;
end;
