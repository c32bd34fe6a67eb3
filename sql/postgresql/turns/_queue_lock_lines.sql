-- calls: _queue_with_next
create or replace function _queue_lock_lines(in_entries bigint[],
    in_others bigint[]) returns void language plpgsql as $$
declare
    v_lock bigint[];
begin
    if not exists (
        select from unnest(in_entries) e (entry) join delayed_queue q on q.entry between e.entry and e.entry
            where q.order_key is not null)
    then
        perform q.entry from delayed_queue q where q.entry = any (in_entries || in_others)
            order by q.entry + 0 for update;
        return;
    end if;
    loop
        begin
            v_lock := _queue_with_next(in_entries);
            perform q.entry from delayed_queue q where q.entry = any (v_lock || in_others)
                order by q.entry + 0 for update;
            if _queue_with_next(in_entries) <@ v_lock then
                return;
            end if;
            raise exception using errcode = 'PQ00A';
        exception when sqlstate 'PQ00A' then
            null; -- another came next while this waited: all is unlocked, and locked again in order
        end;
    end loop;
end $$;

comment on function _queue_lock_lines(bigint[], bigint[]) is
$$Locks messages that are to end and who comes next in the lines of their order keys, so that nobody is waited for once
one of them has ended: that could be a deadlock.
in_entries: the messages. in_others: what else to lock; NULL: nothing.
Locks: as said, in the order of their entries.
differs: a line has a row of its own in queue_order on MariaDB and MySQL, and that is locked instead.$$;
