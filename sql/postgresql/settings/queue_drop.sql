-- calls: _queue_check_dead_letter_kind, _queue_check_name, _queue_check_roles, _queue_end, _queue_fail,
--     _queue_permits_settle, _queue_settings, queue_now
-- changes: queue_bucket, queue_claim, queue_kind, queue_slot, queue_subscription, queue_use
create or replace function queue_drop(in_kind text) returns setof queue_kind
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_hashjoin = off as $$
declare
    v_now constant bigint := queue_now();
    v_kind queue_kind;
    v_gone record;
begin
    perform _queue_check_name(in_kind, 100, 'kind');
    perform _queue_check_roles(array[in_kind]);
    lock table queue_kind in share row exclusive mode; -- as queue_define
    v_kind := _queue_settings(in_kind);
    v_gone := _queue_end(array(
        select p.entry from delayed_queue p
        -- + 0: the kind is to find them
        where p.p_kind = in_kind and (p.reserved_at is null or p.scheduled_at <= v_now)
            order by p.entry + 0 for update),
        null::bytea[], 'dropped', null::text, v_now); -- what was pushed meanwhile stays
    if exists (select from delayed_queue q where q.p_kind = in_kind and q.reserved_at is not null
        and q.scheduled_at > v_now) then
        perform _queue_fail('PQ004', 'kind', in_kind, 'refused while messages are held');
    end if;
    delete from queue_kind k where k.p_kind = in_kind;
    delete from queue_subscription s where s.p_kind = in_kind;
    delete from queue_use u where u.p_kind = in_kind;
    delete from queue_slot s where s.p_kind = in_kind;
    delete from queue_claim c where c.p_kind = in_kind;
    delete from queue_bucket b where b.p_kind = in_kind;
    perform _queue_check_dead_letter_kind(in_kind, null) where v_kind.dead_letter_kind is not null;
    perform _queue_permits_settle(v_gone.guarded, null::text[], true, v_now) where v_gone.guarded is not null;
    return next v_kind;
end $$;

comment on function queue_drop(text) is
$$Removes a kind: its messages, its settings and its subscriptions. Schedules of it stay,
so do semaphores, groups and the places of readers. Its history, the keys that it remembers and its log go with the next
queue_prune.
in_kind: the kind.
Result: the settings it had.
Errors: PQ007 for a kind that is for others. PQ001 for kind, PQ004 while messages are held, and where the default
dead-letter kind would close a circle; then nothing is removed.
Locks: the messages, in the order of their entries; other definitions wait until the transaction ends.$$;
