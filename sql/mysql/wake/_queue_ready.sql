-- calls: _queue_limited_until, _queue_permits_ready, _queue_use
create procedure _queue_ready(in in_kind text collate exact, in in_now bigint, out out_ready boolean)
    comment 'Whether a message of a kind may be taken.
in_kind: the kind. in_now: the time of the call.
out_ready: whether there is one; false also while the kind is paused or at its limits.
Locks: that message, if there is one.
differs: what another transaction has locked isn''t ready: it may go on for long, and to wake somebody for that again
and again would be no waiting. It says nothing of the future: nobody listens here.'
begin
    declare v_found, v_until, v_due_at bigint;
    declare v_due varchar(100) collate exact;
    declare v_limit int;
    declare v_rate decimal(30,6);
    declare v_expires decimal(20,6);
    declare v_paused, v_guarded boolean default false;
    declare continue handler for not found begin end;
    select k.paused, k.semaphores, k.max_reserved, k.rate_per_second, k.expires_seconds
    into v_paused, v_guarded, v_limit, v_rate, v_expires from queue_kind k where k.p_kind = in_kind;
    if v_expires is not null then -- who waits for it uses it
        call _queue_use(in_kind, v_expires, in_now);
    end if;
    if coalesce(v_limit, v_rate) is not null then
        call _queue_limited_until(in_kind, v_limit, v_rate, in_now, v_until);
    end if;
    if not v_paused and v_until is null then
        -- without a lock first: mostly there is nothing, and locks would be taken on what others hold
        select q.entry into v_found from delayed_queue q force index (delayed_queue_ready)
        where q.ready_kind = in_kind and q.scheduled_at <= in_now limit 1;
        if v_found is not null then
            set v_found = null;
            select q.entry into v_found from delayed_queue q force index (delayed_queue_ready)
            where q.ready_kind = in_kind and q.scheduled_at <= in_now
            order by q.ready_rank, q.ready_at, q.entry limit 1 for update skip locked;
        end if;
        if v_found is null then -- mostly nothing is due: to make a list of it would take as long as all the rest
            select min(d.due_at) into v_due_at from delayed_queue d force index (delayed_queue_due)
            where d.p_kind = in_kind and d.due_at between 0 and in_now;
        end if;
        if v_due_at is not null then
            select q.entry into v_found
            from (
                select d.entry from delayed_queue d force index (delayed_queue_due)
                where d.p_kind = in_kind and d.due_at between 0 and in_now order by d.due_at limit 1000) j
                straight_join delayed_queue q force index (primary) on q.entry = j.entry
            where q.due_at <= in_now limit 1 for update of q skip locked;
        end if;
    end if;
    if v_found is null and not v_paused and v_until is null then -- a reserve looks whether all is done
        select min(d.group_name) into v_due from queue_group_due d;
        if v_due is not null then
            select min(l.entry) into v_found
            from (
                select 1 as entry
                from queue_group_due d straight_join queue_group g force index (primary) on g.group_name = d.group_name
                where in_kind in (g.then_kind, g.fail_kind) limit 1 for update of g skip locked) l;
        end if;
    end if;
    set out_ready = v_found is not null;
    if v_guarded and not v_paused and v_until is null and not out_ready then
        call _queue_permits_ready(in_kind, in_now, out_ready);
    end if;
end;
