-- calls: _queue_check_name, _queue_check_roles, _queue_limited_until, _queue_permits_ready, _queue_use, queue_now
create procedure queue_stream_ready(in in_kind text collate exact)
    comment 'Whether a reserve would find something: what a reader of batches asks before it plans one.
in_kind: the kind.
Result: ready: false where nothing is ready, or the kind is paused or at its limits. True also where there is room at a
semaphore that something waits for, or a group is to be looked at.
Errors: PQ007 for a kind that is for others. PQ001 for kind.
Locks: none.
differs: true also while something waits in queue_inbox to be taken in, of whatever kind.'
begin
    declare v_now, v_until, v_due bigint;
    declare v_limit int;
    declare v_rate decimal(30,6);
    declare v_expires decimal(20,6);
    declare v_paused, v_guarded, v_room boolean;
    call queue_now(v_now);
    call _queue_check_name(in_kind, 100, 'kind');
    call _queue_check_roles(json_array(in_kind));
    select max(k.paused), max(k.max_reserved), max(k.rate_per_second), max(k.semaphores),
        max(k.expires_seconds)
    into v_paused, v_limit, v_rate, v_guarded, v_expires from queue_kind k where k.p_kind = in_kind;
    if v_expires is not null then -- as in _queue_ready
        begin atomic
            call _queue_use(in_kind, v_expires, v_now);
        end atomic;
    end if;
    call _queue_limited_until(in_kind, v_limit, v_rate, v_now, v_until);
    if v_guarded then
        call _queue_permits_ready(in_kind, v_now, v_room);
    end if;
    select count(*) into v_due from queue_group_due d straight_join queue_group g on g.group_name = d.group_name
    where in_kind in (g.then_kind, g.fail_kind);
    select v_paused is not true and v_until is null
        and (exists (select 1 from delayed_queue q force index (delayed_queue_ready)
                where q.ready_kind = in_kind and q.scheduled_at <= v_now)
            or exists (select 1 from delayed_queue d force index (delayed_queue_due)
                where d.p_kind = in_kind and d.due_at between 0 and v_now)
            or exists (select 1 from queue_inbox i where not i.taken)
            -- as in _queue_ready: a reserve finds these, too
            or coalesce(v_room, false) or v_due > 0) as ready;
end;
