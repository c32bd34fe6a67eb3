-- calls: _queue_advance, _queue_history_row, _queue_log_ended
-- changes: delayed_queue, queue_count, queue_history
create or replace function _queue_discard(in_tids tid[], in_outcome text, in_now bigint, out rows bigint,
    out slotted bigint[])
    language plpgsql as $$
declare
    v_keeps constant boolean := in_outcome is not null
        and exists (select from queue_kind k where k.history_seconds > 0 or k.log_seconds > 0);
    v_gone record;
begin
    with d as (
        delete from delayed_queue q where q.ctid = any (in_tids)
        returning q.p_kind, q.p_key, q.entry, q.source_kind, q.reserved_at, q.order_key, case
            when v_keeps then q end as message, case when q.semaphores is not null then q.entry end as slotted),
    c as (
        insert into queue_count (p_kind, pushed, reserved)
        select d.p_kind, count(*) - count(d.source_kind), count(d.reserved_at) from d group by d.p_kind),
    h as (
        insert into queue_history
        select e.* from d join queue_kind k on k.p_kind = d.p_kind and k.history_seconds > 0,
            _queue_history_row(d.message, in_outcome, null, in_now) e
        where v_keeps)
    select count(*) as rows, array_agg(d.p_kind) filter (where v_keeps) as kinds,
        array_agg(d.p_key) filter (where v_keeps) as keys, array_agg(d.entry) filter (where v_keeps) as entries,
        array_agg(d.p_kind) filter (where d.order_key is not null) as of_orders,
        array_agg(d.order_key) filter (where d.order_key is not null) as orders,
        array_agg(d.slotted) filter (where d.slotted is not null) as slotted
    into v_gone from d;
    rows := v_gone.rows;
    slotted := v_gone.slotted;
    if v_gone.orders is not null then
        perform _queue_advance(array_agg(o.p_kind), array_agg(o.order_key), in_now)
        from (select distinct u.p_kind, u.order_key
            from unnest(v_gone.of_orders, v_gone.orders) u (p_kind, order_key)) o;
    end if;
    if v_keeps then
        perform _queue_log_ended(v_gone.kinds, v_gone.keys, v_gone.entries, in_outcome, null, in_now);
    end if;
end $$;

comment on function _queue_discard(tid[], text, bigint) is
$$Removes messages, and what was pushed onto them while they were held; what is to be kept of an end is kept.
in_tids: the messages, locked already; no holds that last. in_outcome: removed; NULL: they go with their kind, and
nothing is kept of them but what they count for in queue_stats. in_now: the time of the call.
Result: rows: how many went; slotted: those that name semaphores, NULL: none, for _queue_permits_settle at the end of
the call.
Locks: the next in the lines of their order keys.$$;
