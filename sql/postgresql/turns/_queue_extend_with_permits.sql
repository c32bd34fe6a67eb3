-- calls: _queue_permits_lock, _queue_permits_room, _queue_permits_settle, _queue_wake
-- changes: delayed_queue, queue_semaphore_permit
create or replace function _queue_extend_with_permits(in_entries bigint[], in_secrets bytea[],
    in_seconds double precision, in_now bigint)
    returns bigint[] language plpgsql as $$
declare
    v_until constant bigint := in_now + (in_seconds * 1000000)::bigint;
    v_row record;
    v_places bigint[] := '{}';
begin
    perform q.entry from delayed_queue q where q.entry = any (in_entries) and q.semaphores is not null
        order by q.entry + 0 for update;
    perform _queue_permits_lock(array(
        select distinct a.name
        from unnest(in_entries, in_secrets) r (entry, secret)
        cross join lateral ( -- OFFSET: ADR 13
            select m.entry, m.semaphores from delayed_queue m
                where m.entry = r.entry and m.secret = r.secret offset 0) q,
            unnest(q.semaphores) a (name)
        where in_seconds > 0 and not exists (select from queue_semaphore_permit h
            where h.entry = q.entry and h.name = a.name)), true);
    for v_row in
        select r.place, q.entry, q.reserved_by, q.p_kind, array(
            select s.name from queue_semaphore s
            where in_seconds > 0 and s.name = any (q.semaphores) and q.source_kind is null and not exists (
                select from queue_semaphore_permit h where h.entry = q.entry and h.name = s.name) order by 1) as missing
        from unnest(in_entries, in_secrets) with ordinality r (entry, secret, place)
        join delayed_queue q on q.entry between r.entry and r.entry and q.secret = r.secret
        where q.semaphores is not null order by q.entry + 0
    loop
        continue when v_row.reserved_by is null or exists (
            select from unnest(v_row.missing) n (name) where _queue_permits_room(n.name, false, in_now) <= 0);
        update delayed_queue q set scheduled_at = v_until where q.entry = v_row.entry;
        update queue_semaphore_permit h set until = v_until where h.entry = v_row.entry;
        insert into queue_semaphore_permit (entry, name, until) select v_row.entry, n.name, v_until
            from unnest(v_row.missing) n (name);
        v_places := v_places || v_row.place;
        perform _queue_wake(v_row.p_kind, null) where in_seconds = 0;
    end loop;
    perform _queue_permits_settle(array(select in_entries[p.place] from unnest(v_places) p (place)), null::text[],
        true, in_now) where in_seconds = 0;
    return v_places;
end $$;

comment on function _queue_extend_with_permits(bigint[], bytea[], double precision, bigint) is
$$Extends the holds of messages that name semaphores. One whose hold has expired, and whose permits were given to
others, is extended where there is room again, and otherwise not; its ack still counts.
in_entries, in_secrets: the receipts, taken apart. in_seconds: see queue_extend. in_now: the time of the call.
Result: which of the receipts were extended, by their places, from 1.
Locks: the messages in the order of their entries; then the semaphores of which one has no permit any more.$$;
