-- calls: _queue_advance, _queue_log_open, _queue_newest, _queue_permits_note, _queue_put, _queue_wake_limited
-- changes: delayed_queue, queue_count, queue_dedup, queue_history, queue_log
create or replace function _queue_end(in_entries bigint[], in_secrets bytea[], in_outcome text, in_to_kind text,
    in_now bigint, out places bigint[], out guarded bigint[]) language plpgsql as $$
declare
    v_gone record;
    v_again delayed_queue;
begin
    select coalesce(array_agg(d.place), '{}') as places, array_agg(d.entry) as entries,
        array_agg(d.entry) filter (where d.guarded) as guarded,
        array_agg(d.message) filter (where d.pending) as again,
        array_agg(d.p_kind) filter (where d.order_key is not null) as of_orders,
        array_agg(d.order_key) filter (where d.order_key is not null) as orders,
        array_agg(d.entry) filter (where k.history_seconds > 0) as kept,
        array_agg(d.entry) filter (where k.dedup_seconds > 0) as remembered,
        array_agg(d.entry) filter (where k.log_seconds > 0) as logged,
        array_agg(d.p_kind) filter (where k.max_reserved is not null) as limited
    into v_gone
    from (
        select r.place, q.p_kind, q.entry, q.order_key, q.semaphores is not null as guarded,
            q.pending is not null as pending, case when q.pending is not null then q end as message
        from unnest(in_entries, in_secrets) with ordinality r (entry, secret, place)
        join delayed_queue q on q.entry between r.entry and r.entry and (in_secrets is null or q.secret = r.secret)
        for update of q) d
    left join queue_kind k on k.p_kind = d.p_kind and in_outcome <> 'dropped' -- by index queue_kind_keeps
        and (k.history_seconds > 0 or k.dedup_seconds > 0 or k.max_reserved is not null or k.log_seconds > 0);
    if v_gone.kept is not null then
        insert into queue_history
        select q.p_kind, q.p_key, q.entry, in_outcome, in_to_kind, q.payload, q.payload_bytes, q.headers, q.priority,
            q.scheduled_at_initially, q.created_at, case when in_outcome = 'popped' then in_now else q.reserved_at end,
            in_now, q.attempts + (in_outcome = 'popped')::integer,
            case when in_outcome <> 'popped' then q.reserved_by end, q.errors, null::jsonb
        from delayed_queue q where q.entry = any (v_gone.kept);
    end if;
    if v_gone.remembered is not null and in_outcome in ('acked', 'popped', 'moved') then
        insert into queue_dedup (p_kind, p_key, ended_at)
        select q.p_kind, q.p_key, in_now from delayed_queue q where q.entry = any (v_gone.remembered)
        order by 2, 1 on conflict on constraint queue_dedup_pkey do update set ended_at = excluded.ended_at;
    end if;
    if v_gone.logged is not null then
        perform _queue_log_open();
        insert into queue_log (event, name, p_kind, p_key, entry, to_kind, created_at)
        select in_outcome, q.p_kind, q.p_kind, q.p_key, q.entry, in_to_kind, in_now
        from delayed_queue q where q.entry = any (v_gone.logged) order by q.entry + 0;
    end if;
    with d as (
        delete from delayed_queue q where q.entry = any (v_gone.entries)
        returning q.p_kind, q.source_kind, q.reserved_at)
    insert into queue_count (p_kind, pushed, reserved, popped, acked, moved, dead)
    select d.p_kind, count(*) - count(d.source_kind),
        case when in_outcome in ('acked', 'moved', 'removed', 'dropped') then count(d.reserved_at) end,
        case in_outcome when 'popped' then count(*) end, case in_outcome when 'acked' then count(*) end,
        case in_outcome when 'moved' then count(*) end, case in_outcome when 'dead' then count(*) end
    from d group by d.p_kind;
    places := v_gone.places;
    guarded := v_gone.guarded;
    if v_gone.orders is not null then
        perform _queue_advance(array_agg(o.p_kind), array_agg(o.order_key), in_now, null::bigint[])
        from (select distinct u.p_kind, u.order_key
            from unnest(v_gone.of_orders, v_gone.orders) u (p_kind, order_key)) o;
    end if;
    if v_gone.limited is not null then
        perform _queue_wake_limited(k.name) from (select distinct n.name from unnest(v_gone.limited) n (name)) k;
    end if;
    foreach v_again in array coalesce(v_gone.again, '{}') loop
        exit when in_outcome in ('removed', 'dropped'); -- it goes, too
        if in_outcome is not null then
            v_again.member := null;
        end if;
        v_again := _queue_newest(v_again);
        v_again.scheduled_at := greatest((v_again.pending ->> 'scheduled_at')::bigint, in_now);
        v_again.attempts := 0;
        -- nobody comes or goes in its line until this commits, since its first has just ended; the next is first by now
        select bool_or(true) into v_again.order_waits from delayed_queue f
        where f.p_kind = v_again.p_kind and f.order_key = v_again.order_key and f.order_key is not null
            and f.order_waits is null;
        perform _queue_permits_note(array[p.entry])
        from _queue_put(v_again, 'ignore', null::bigint, in_now) p where p.waits_for is not null;
    end loop;
end $$;

comment on function _queue_end(bigint[], bytea[], text, text, bigint) is
$$The verb end: counts and removes what has ended, and does what hangs on it, in one order of locks. What its kind
wants kept is kept (history, key, log); the next of its line is first; what was pushed onto it while it was held is put
in, as a new entry with the same route before it, and the same semaphores; which is the same member of its group where
it takes the place of this one, and stands at the end of the line of its order key.
in_entries: the messages; where they are of several kinds or stand in lines they are locked already. in_secrets: of
their receipts; a message that has another one stays; NULL: whatever they are. in_outcome: acked, popped, moved, dead,
removed, of which what is pending goes too; dropped: the same with its kind, so that nothing is kept; NULL: it makes
room for what is pending, and nothing is kept. in_to_kind: where it went, NULL: nowhere.
in_now: the time of the call.
Result: places: which of them ended, from 1; guarded: those of them that name semaphores, NULL: none.
Its caller ends the members of groups, and at the end of the call has _queue_permits_settle free the semaphores. That
they were held is counted here where they were acked, moved, removed or dropped; else by whoever ends the hold. What is
plain ends in one statement in queue_ack, queue_ack_many, queue_pop and _queue_deliver.
Locks: the messages, in the order in which they are given; the next in their lines, in the order of their entries; then
the keys of what is pending.
differs: on MariaDB and MySQL one message, because a procedure has no arrays.$$;
