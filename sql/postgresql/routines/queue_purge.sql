create or replace function queue_purge(in_kind text, in_max_messages bigint default null, out purged bigint)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
    v_now constant bigint := queue_now();
    v_keeps boolean;
    v_logs boolean;
    v_gone record;
begin
    perform _queue_check_kind(in_kind, 100);
    if in_max_messages is not null then
        perform _queue_check_count(in_max_messages, 'max_messages', 9223372036854775807);
    end if;
    select k.history_seconds > 0, k.log_seconds > 0 into v_keeps, v_logs
    from queue_kind k where k.p_kind = in_kind and (k.history_seconds > 0 or k.log_seconds > 0);
    with d as (
        delete from delayed_queue q
        where q.ctid = any (array(
            select p.ctid from delayed_queue p
            where p.p_kind = in_kind and (p.reserved_at is null or p.scheduled_at <= v_now)
            limit in_max_messages for update skip locked))
        returning q.p_kind, q.p_key, q.entry, q.source_kind, q.reserved_at, q.order_key, case when v_keeps then q end as message,
            case when q.semaphores is not null then q.entry end as slotted),
    c as (
        insert into queue_count (p_kind, pushed, reserved)
        select in_kind, count(*) - count(d.source_kind), count(d.reserved_at) from d having count(*) > 0),
    h as (
        insert into queue_history select e.* from d, _queue_ended(d.message, 'removed', null, v_now) e where v_keeps)
    select count(*) as rows, array_agg(d.p_kind) filter (where v_logs) as kinds, array_agg(d.p_key) filter (where v_logs) as keys,
        array_agg(d.entry) filter (where v_logs) as entries,
        array_agg(distinct d.order_key) filter (where d.order_key is not null) as orders, array_agg(d.slotted) filter (where d.slotted is not null) as slotted
    into v_gone from d;
    purged := v_gone.rows;
    if v_gone.orders is not null then
        perform _queue_advance(array_agg(in_kind), array_agg(o.order_key), v_now) from unnest(v_gone.orders) o (order_key);
    end if;
    perform _queue_slot_settle(v_gone.slotted, null, true, v_now) where v_gone.slotted is not null;
    if v_logs then
        perform _queue_log_ended(v_gone.kinds, v_gone.keys, v_gone.entries, 'removed', null, v_now);
    end if;
end $$;

comment on function queue_purge(text, bigint) is
$$Removes the messages of a kind that nobody holds.
in_kind: the kind. in_max_messages: how many at the most, NULL: all.
Result: purged: how many.
Errors: PQ001 for kind and max_messages.
Locks: the messages; what others have locked is left.$$;
