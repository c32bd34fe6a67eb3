create or replace function queue_drop(in_kind text) returns setof queue_kind
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
    v_now constant bigint := queue_now();
    v_kind queue_kind;
    v_orders text[];
    v_slotted bigint[];
begin
    perform _queue_check_kind(in_kind, 100);
    lock table queue_kind in share row exclusive mode; -- as queue_define
    v_kind := _queue_settings(in_kind);
    with d as (
        delete from delayed_queue q
        where q.entry = any (array(
            select p.entry from delayed_queue p
            where p.p_kind = in_kind and (p.reserved_at is null or p.scheduled_at <= v_now) order by p.entry + 0 for update)) -- + 0: the kind is to find them
        returning q.source_kind, q.reserved_at, q.order_key, case when q.semaphores is not null then q.entry end as slotted),
    c as (
        insert into queue_count (p_kind, pushed, reserved)
        select in_kind, count(*) - count(d.source_kind), count(d.reserved_at) from d having count(*) > 0)
    select array_agg(distinct d.order_key) filter (where d.order_key is not null), array_agg(d.slotted) filter (where d.slotted is not null)
    into v_orders, v_slotted from d;
    if v_orders is not null then -- what was pushed meanwhile stays
        perform _queue_advance(array_agg(in_kind), array_agg(o.order_key), v_now) from unnest(v_orders) o (order_key);
    end if;
    if exists (select from delayed_queue q where q.p_kind = in_kind and q.reserved_at is not null and q.scheduled_at > v_now) then
        perform _queue_fail('PQ004', 'kind', in_kind, 'refused while messages are held');
    end if;
    delete from queue_kind k where k.p_kind = in_kind;
    delete from queue_subscription s where s.p_kind = in_kind;
    delete from queue_use u where u.p_kind = in_kind;
    delete from queue_slot s where s.p_kind = in_kind;
    delete from queue_claim c where c.p_kind = in_kind;
    delete from queue_bucket b where b.p_kind = in_kind;
    if v_kind.dead_letter_kind is not null then
        perform _queue_check_dead_letter_kind(in_kind, null);
    end if;
    perform _queue_slot_settle(v_slotted, null, true, v_now) where v_slotted is not null;
    return next v_kind;
end $$;

comment on function queue_drop(text) is
$$Removes a kind: its messages, its settings and its subscriptions. Schedules of it stay.
in_kind: the kind.
Result: the settings it had.
Errors: PQ001 for kind, PQ004 while messages are held, and where the default dead-letter kind would close a circle; then nothing
is removed.
Locks: the messages, in the order of their entries; other definitions wait until the transaction ends.$$;
