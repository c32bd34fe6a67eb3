-- changes: queue_semaphore_permit
create procedure _queue_permits_promised(in in_entries longtext character set utf8mb4, in in_until bigint,
    out out_done boolean)
    comment 'Messages that have all their permits promised are taken with these: nothing is given or freed, so no
semaphore needs to be locked, and nobody waits for anybody. Who wants a permit that was promised takes the promise back,
see _queue_permits_room.
in_entries: a JSON array of their entries, locked already. in_until: when the holds end.
out_done: false: not all have; then _queue_permits_take sees to all of them.
Locks: the permits.
differs: PostgreSQL''s looks whether the capacity was lowered, since who gives a permit on locks nothing there.'
begin
    declare v_wants int;
    select coalesce(sum(json_length(q.semaphores)), 0) into v_wants
    from messages(in_entries) q where q.source_kind is null
    for update /*!80000 of q */; -- an old snapshot may not have them
    update messages(in_entries) q
        straight_join queue_semaphore_permit h force index (primary) on h.entry = q.entry and h.until < 0
    set h.until = in_until
    where q.source_kind is null;
    set out_done = row_count() = v_wants;
end;
