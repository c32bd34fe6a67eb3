-- changes: queue_semaphore_permit
create or replace function _queue_permits_promised(in_entries bigint[], in_names text[], in_until bigint)
    returns boolean language plpgsql as $$
declare
    v_rows bigint;
begin
    if exists (select from queue_semaphore s where s.name = any (in_names) and s.lowered) then
        return false;
    end if;
    update queue_semaphore_permit h set until = in_until where h.entry = any (in_entries) and h.until < 0;
    get diagnostics v_rows = row_count;
    return v_rows = (
        select sum(cardinality(q.semaphores)) from delayed_queue q
        where q.entry = any (in_entries) and q.source_kind is null);
end $$;

comment on function _queue_permits_promised(bigint[], text[], bigint) is
$$Messages that have all their permits promised are taken with these: nothing is given or freed, so no semaphore needs
to be locked, and nobody waits for anybody. Who wants a permit that was promised takes the promise back, see
_queue_permits_room.
in_entries: the messages, locked already. in_names: their semaphores. in_until: when the holds end.
Result: false: not all have; then _queue_permits_take sees to all of them.
Locks: the permits.
differs: MariaDB and MySQL needn't look at lowered: who gives a permit on shares the lock of the semaphore there.$$;
