-- calls: _queue_integer, _queue_number, _queue_wake
-- changes: delayed_queue, queue_bucket, queue_claim, queue_kind, queue_slot
create or replace function _queue_define_limits(in_kind queue_kind, in_options jsonb, in_now bigint) returns queue_kind
    language plpgsql set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_most constant integer := _queue_integer(in_options, 'max_reserved', 1::bigint, 10000::bigint);
    v_rate constant numeric := _queue_number(in_options, 'rate_per_second', 0.001, 1000000::numeric);
    v_parts constant integer := least(greatest(floor(v_rate), 1), 16);
    v_held bigint;
begin
    if in_options ? 'max_reserved' and v_most is distinct from in_kind.max_reserved then
        if v_most is null then
            delete from queue_slot s where s.p_kind = in_kind.p_kind;
            delete from queue_claim c where c.p_kind = in_kind.p_kind;
        else
            if in_kind.max_reserved is null then -- what is held already has slots as well
                insert into queue_claim (p_kind, slot, number, entry, secret)
                select q.p_kind, row_number() over (order by q.entry), 1, q.entry, q.secret
                from delayed_queue q
                where q.p_kind = in_kind.p_kind and q.ready_at is not null and q.secret is not null
                    and q.scheduled_at > in_now;
                get diagnostics v_held = row_count;
                -- a hold that has expired has none, so that it can't be extended
                update delayed_queue q set reserved_by = null
                where q.p_kind = in_kind.p_kind and q.ready_at is not null and q.reserved_at is not null
                    and q.scheduled_at <= in_now;
            end if;
            insert into queue_slot (p_kind, slot)
            select in_kind.p_kind, n from generate_series(1, greatest(v_most, v_held)) n
            on conflict on constraint queue_slot_pkey do nothing;
        end if;
        in_kind.max_reserved := v_most;
    end if;
    if in_options ? 'rate_per_second' and v_rate is distinct from in_kind.rate_per_second then
        delete from queue_bucket b where b.p_kind = in_kind.p_kind;
        insert into queue_bucket (p_kind, part, spent_at)
        select in_kind.p_kind, n, in_now * 1000 - (1000000000.0 / v_rate * (v_parts - n))::bigint
        from generate_series(0, v_parts - 1) n where v_rate is not null;
        in_kind.rate_per_second := v_rate;
    end if;
    if in_options ?| '{max_reserved, rate_per_second}' then
        update queue_kind k set max_reserved = in_kind.max_reserved, rate_per_second = in_kind.rate_per_second
        where k.p_kind = in_kind.p_kind;
        perform _queue_wake(in_kind.p_kind, null);
    end if;
    return in_kind;
end $$;

comment on function _queue_define_limits(queue_kind, jsonb, bigint) is
$$Sets max_reserved and rate_per_second of a kind, with the slots and the tokens that they need. What is held when the
first limit is set counts; what goes above a limit that is lowered keeps its slot until its hold ends. A rate begins
with one token.
in_kind: the settings that it had, whose row is there. in_options: those of queue_define. in_now: the time of the call.
Result: the settings that it has.
Errors: PQ002.
Locks: the rows of the limits that change: it waits for reserves of the kind that are under way.$$;
