-- calls: _queue_advance, _queue_log_ended, _queue_put_pending, _queue_wake_limited
-- changes: delayed_queue, queue_count, queue_dedup, queue_history
create or replace function _queue_end(in_entries bigint[], in_secrets bytea[], in_outcome text, in_to_kind text,
    in_now bigint, out places bigint[], out guarded bigint[]) language plpgsql as $$
declare
    v_keeps constant boolean := in_outcome in ('acked', 'popped', 'moved', 'dead', 'removed');
    v_gone record;
    v_again delayed_queue;
begin
    with d as (
        delete from delayed_queue q using unnest(in_entries, in_secrets) with ordinality r (entry, secret, place)
        where q.entry between r.entry and r.entry and (in_secrets is null or q.secret = r.secret)
        returning r.place, q.p_kind, q.p_key, q.entry, q.source_kind, q.reserved_at, q.order_key,
            q.semaphores is not null as guarded, q.pending is not null as pending, case
            when q.pending is not null or v_keeps and exists (
                select from queue_kind k where k.p_kind = q.p_kind and k.history_seconds > 0) then q end as message),
    c as (
        insert into queue_count (p_kind, pushed, reserved, popped, acked, moved, dead)
        select d.p_kind, count(*) - count(d.source_kind),
            case when in_outcome in ('acked', 'moved', 'removed', 'dropped') then count(d.reserved_at) end,
            case in_outcome when 'popped' then count(*) end, case in_outcome when 'acked' then count(*) end,
            case in_outcome when 'moved' then count(*) end, case in_outcome when 'dead' then count(*) end
        from d group by d.p_kind),
    h as (
        insert into queue_history
        select d.p_kind, d.p_key, d.entry, in_outcome, in_to_kind, m.payload, m.payload_bytes, m.headers, m.priority,
            m.scheduled_at_initially, m.created_at, case when in_outcome = 'popped' then in_now else m.reserved_at end,
            in_now, m.attempts + (in_outcome = 'popped')::integer,
            case when in_outcome <> 'popped' then m.reserved_by end, m.errors, null::jsonb
        from d join queue_kind k on k.p_kind = d.p_kind and k.history_seconds > 0,
            lateral (select (d.message).*) m
        where v_keeps),
    m as (
        insert into queue_dedup (p_kind, p_key, ended_at)
        select d.p_kind, d.p_key, in_now from d join queue_kind k on k.p_kind = d.p_kind and k.dedup_seconds > 0
        where in_outcome in ('acked', 'popped', 'moved')
        order by 2, 1 on conflict on constraint queue_dedup_pkey do update set ended_at = excluded.ended_at)
    select coalesce(array_agg(d.place), '{}') as places, array_agg(d.entry) filter (where d.guarded) as guarded,
        array_agg(d.message)
            filter (where d.pending and coalesce(in_outcome, '') not in ('removed', 'dropped')) as again,
        array_agg(d.p_kind) filter (where d.order_key is not null) as of_orders,
        array_agg(d.order_key) filter (where d.order_key is not null) as orders,
        array_agg(d.p_kind order by d.entry) filter (where k.log_seconds > 0) as kinds,
        array_agg(d.p_key order by d.entry) filter (where k.log_seconds > 0) as keys,
        array_agg(d.entry order by d.entry) filter (where k.log_seconds > 0) as logged,
        array_agg(distinct d.p_kind) filter (where k.max_reserved is not null and d.reserved_at is not null) as limited
    into v_gone
    from d left join queue_kind k on k.p_kind = d.p_kind and v_keeps -- by its index queue_kind_keeps
        and (k.history_seconds > 0 or k.dedup_seconds > 0 or k.max_reserved is not null or k.log_seconds > 0);
    places := v_gone.places;
    guarded := v_gone.guarded;
    if v_gone.orders is not null then
        perform _queue_advance(array_agg(o.p_kind), array_agg(o.order_key), in_now)
        from (select distinct u.p_kind, u.order_key
            from unnest(v_gone.of_orders, v_gone.orders) u (p_kind, order_key)) o;
    end if;
    if v_gone.kinds is not null then
        perform _queue_log_ended(v_gone.kinds, v_gone.keys, v_gone.logged, in_outcome, in_to_kind, in_now);
    end if;
    if v_gone.limited is not null then
        perform _queue_wake_limited(k.name) from unnest(v_gone.limited) k (name);
    end if;
    foreach v_again in array coalesce(v_gone.again, '{}') loop
        if in_outcome is not null then
            v_again.member := null;
        end if;
        perform _queue_put_pending(v_again, in_now);
    end loop;
end $$;

comment on function _queue_end(bigint[], bytea[], text, text, bigint) is
$$The verb end: counts and removes what has ended, and does what hangs on it, in one order of locks. What its kind
wants kept is kept (history, key, log); the next of its line is first; what was pushed onto it while it was held is put
in, as a new entry with the same route before it, and the same semaphores; which is the same member of its group where
it takes the place of this one, and stands at the end of the line of its order key.
in_entries: the messages, locked already, or of one kind and in no line. in_secrets: of their receipts; a message that
has another one stays; NULL: whatever they are. in_outcome: acked, popped, moved, dead, removed, of which what is
pending goes too; dropped: the same with its kind, so that nothing is kept; NULL: it makes room for what is pending, and
nothing is kept. in_to_kind: where it went, NULL: nowhere.
in_now: the time of the call.
Result: places: which of them ended, from 1; guarded: those of them that name semaphores, NULL: none.
Its caller ends the members of groups, and at the end of the call has _queue_permits_settle free the semaphores. That
they were held is counted here where they were acked, moved, removed or dropped; else by whoever ends the hold. What is
plain ends in one statement in queue_ack, queue_ack_many, queue_pop and _queue_deliver.
Locks: the next in the line of its order key; then the key of what is pending.
differs: on MariaDB and MySQL one message, because a procedure has no arrays.$$;
