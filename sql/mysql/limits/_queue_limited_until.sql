create procedure _queue_limited_until(in in_kind text collate exact, in in_most int, in in_rate decimal(30,6),
    in in_now bigint, out out_until bigint)
    comment 'Until when the limits of a kind let nothing be taken, for those that wait.
in_kind: the kind. in_most, in_rate: its max_reserved and its rate_per_second, NULL: without. in_now: the time of the
call.
Result: when there is a token again; while all slots are taken, when one of their holds ends. NULL: there is room.
differs: no time is answered within a second for events that were left out: nobody is told anything here, and who waits
looks on. The tokens that a session has aren''t looked at: who waits isn''t who takes.'
begin
    declare v_held, v_end bigint;
    set out_until = null;
    if in_rate is not null then
        select ceil(min(if(b.spent_at <= in_now * 1000 + 1000000000,
            b.spent_at + 1000000000 * least(greatest(floor(in_rate), 1), 16) / in_rate, null)) / 1000)
        into out_until from queue_bucket b where b.p_kind = in_kind;
    end if;
    if in_most is not null then
        select count(*), min(t.scheduled_at) into v_held, v_end
        from (
            select q.scheduled_at
            from queue_slot s force index (primary)
                straight_join delayed_queue q force index (primary) on q.entry = s.entry and q.secret = s.secret
            where s.p_kind = in_kind and q.scheduled_at > in_now
            limit in_most) t;
        if v_held >= in_most then
            set out_until = greatest(coalesce(out_until, 0), v_end);
        end if;
    end if;
    if out_until <= in_now then
        set out_until = null;
    end if;
end;
