-- calls: _queue_check_name, _queue_check_roles, _queue_limited_until, _queue_permits_ready, _queue_use, queue_now
create or replace function queue_stream_ready(in_kind text, out ready boolean)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_kind queue_kind;
begin
    perform _queue_check_name(in_kind, 100, 'kind');
    perform _queue_check_roles(array[in_kind]);
    select k.* into v_kind from queue_kind k where k.p_kind = in_kind;
    if v_kind.expires_seconds is not null then -- as in _queue_ready
        perform _queue_use(v_kind, v_now);
    end if;
    ready := v_kind.paused is not true and _queue_limited_until(v_kind, v_now) is null
        and (exists (select from delayed_queue q where q.p_kind = in_kind and q.ready_at is not null
            and q.scheduled_at <= v_now)
            or exists (select from delayed_queue d where d.p_kind = in_kind and d.due_at <= v_now)
            -- as in _queue_ready: a reserve finds these, too
            or coalesce(v_kind.semaphores, false) and (_queue_permits_ready(in_kind, v_now)).ready
            or exists (select from queue_group_due) and exists (
                select from queue_group_due d join queue_group g on g.group_name between d.group_name and d.group_name
                where in_kind in (g.then_kind, g.fail_kind)));
end $$;

comment on function queue_stream_ready(text) is
$$Whether a reserve would find something: what a reader of batches asks before it plans one.
in_kind: the kind.
Result: ready: false where nothing is ready, or the kind is paused or at its limits. True also where there is room at a
semaphore that something waits for, or a group is to be looked at.
Errors: PQ007 for a kind that is for others. PQ001 for kind.
Locks: none.$$;
