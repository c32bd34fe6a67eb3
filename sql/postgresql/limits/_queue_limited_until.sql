-- calls: _queue_setting
create or replace function _queue_limited_until(in_kind queue_kind, in_now bigint) returns bigint language plpgsql as $$
declare
    v_state constant bigint[] := nullif(
        current_setting(_queue_setting('limits ' || in_kind.p_kind), true), '')::bigint[];
    v_step constant numeric := 1000000000.0 * least(greatest(floor(in_kind.rate_per_second), 1),
        16) / in_kind.rate_per_second;
    v_until bigint;
    v_held bigint;
    v_end bigint;
begin
    if v_step is not null and (v_state[2] > 0 and in_now - v_state[3] between 0 and 1000000) is not true then
        select ceil(min(case when b.spent_at <= in_now * 1000 + 1000000000 then b.spent_at +
            v_step end) / 1000) into v_until
        from queue_bucket b where b.p_kind = in_kind.p_kind;
    end if;
    if in_kind.max_reserved is not null then
        select count(*), min(t.scheduled_at) into v_held, v_end
        from (
            select q.scheduled_at from queue_slot s,
                lateral (
                    select c.entry, c.secret from queue_claim c where c.p_kind = s.p_kind and c.slot = s.slot
                    order by c.p_kind desc, c.slot desc, c.number desc limit 1) n, delayed_queue q
            where s.p_kind = in_kind.p_kind and q.entry between n.entry and n.entry and q.secret = n.secret
                and q.scheduled_at > in_now
            limit in_kind.max_reserved) t;
        if v_held = in_kind.max_reserved then
            v_until := greatest(v_until, least(v_end, in_now + 1000000));
        end if;
    end if;
    return case when v_until > in_now then v_until end;
end $$;

comment on function _queue_limited_until(queue_kind, bigint) is
$$Until when the limits of a kind let nothing be taken, for those that wait.
in_kind: its settings. in_now: the time of the call.
Result: when there is a token again; while all slots are taken, when one of their holds ends, within a second, since an
event that one is free may have been left out (see _queue_wake_limited). NULL: there is room.$$;
