-- calls: _queue_add_error, _queue_bury, _queue_end, _queue_settings, _queue_wake
-- changes: delayed_queue, queue_count, queue_semaphore_permit
create or replace function _queue_release_worker(in_worker text, in_kinds jsonb, in_now bigint,
    in_max integer, out freed integer, out done boolean) language plpgsql as $$
declare
    v_error constant text := 'worker ' || in_worker || ' is gone';
    v_entries bigint[];
    v_found integer;
    v_kinds text[];
    v_each record;
begin
    v_entries := array(
        with recursive k (p_kind) as (
            (select q.p_kind from delayed_queue q where in_kinds is null and q.ready_at is not null
            order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit 1)
            union all
            select (
                select q.p_kind from delayed_queue q where q.p_kind > k.p_kind and q.ready_at is not null
                order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit 1)
            from k where k.p_kind is not null)
        select l.entry
        from (select k.p_kind from k union select n.name from jsonb_array_elements_text(in_kinds) n (name)) a,
            lateral (
                select q.entry from delayed_queue q
                where q.p_kind = a.p_kind and q.ready_at is not null and q.reserved_by = in_worker
                    and q.scheduled_at > in_now
                order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit in_max) l
        limit in_max);
    v_found := cardinality(v_entries);
    v_entries := array(
        select q.entry from delayed_queue q
        where q.entry = any (v_entries) and q.reserved_by = in_worker and q.scheduled_at > in_now
        order by q.entry + 0 for update skip locked);
    freed := cardinality(v_entries);
    done := v_found < in_max and freed = v_found;
    v_kinds := array(select q.p_kind from delayed_queue q where q.entry = any (v_entries));
    insert into queue_count (p_kind, reserved, expired)
    select k.p_kind, count(*), count(*) from unnest(v_kinds) k (p_kind) group by k.p_kind;
    update queue_semaphore_permit h set until = in_now where h.entry = any (v_entries); -- for whoever wants them
    perform _queue_wake(k.p_kind, null) from (select distinct n.p_kind from unnest(v_kinds) n (p_kind)) k;
    for v_each in
        select q.entry, d.dies
        from delayed_queue q, lateral _queue_settings(q.p_kind) k, lateral (
            select not k.paused and q.attempts >= coalesce(q.max_attempts, k.max_attempts, 2147483647)) d (dies)
        where q.entry = any (v_entries) and (q.pending is not null or d.dies)
        order by q.p_key, q.p_kind -- dead letters are put in in the order of their keys, as everywhere
    loop
        if v_each.dies then
            perform _queue_bury(v_each.entry, v_error, in_now);
        else
            perform _queue_end(array[v_each.entry], null::bytea[], null::text, null::text, in_now);
        end if;
    end loop;
    update delayed_queue q
    set scheduled_at = in_now, ready_at = in_now, reserved_at = null, reserved_by = null, secret = null,
        errors = _queue_add_error(q.errors, in_now, q.attempts, q.reserved_by, v_error)
    where q.entry = any (v_entries);
end $$;

comment on function _queue_release_worker(text, jsonb, bigint, integer) is
$$Frees what a worker holds: see queue_reap.
in_worker: the worker. in_kinds: where it holds messages, a JSON array; NULL: anywhere. in_now: the time of the call.
in_max: how many.
Result: freed: how many were freed; done: whether it holds nothing more. Who holds a message isn't indexed, so that a
reserve stays cheap: the ready lines are read.
Locks: the messages, in the order of their entries; what others have locked is left for the next time.$$;
