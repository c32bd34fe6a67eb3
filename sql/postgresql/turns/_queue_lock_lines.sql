create or replace function _queue_lock_lines(in_entries bigint[],
    in_others bigint[]) returns bigint[] language plpgsql as $$
declare
    v_next bigint[]; v_lock bigint[];
begin
    if not exists (
        select from unnest(in_entries) e (entry) join delayed_queue q on q.entry between e.entry and e.entry
            where q.order_key is not null)
    then
        perform q.entry from delayed_queue q where q.entry = any (in_entries || in_others)
            order by q.entry + 0 for update;
        return '{}';
    end if;
    for v_try in 1 .. 2147483647 loop
        begin
            v_lock := in_entries || in_others || v_next;
            perform q.entry from delayed_queue q where q.entry = any (v_lock) order by q.entry + 0 for update;
            v_next := array(
                select n.entry
                from unnest(in_entries) e (entry) join delayed_queue q on q.entry between e.entry and e.entry
                    and q.order_key is not null, lateral (
                        select w.entry from delayed_queue w -- BETWEEN: ADR 13
                        where w.p_kind = q.p_kind and w.order_key between q.order_key and q.order_key
                            and w.order_waits
                        order by w.p_kind, w.order_key, w.entry limit 1) n);
            -- nobody is waited for out of order, so what isn't locked yet is passed over where another has it
            if v_try = 1 and v_next <> '{}' then
                v_lock := v_lock || array(
                    select q.entry from delayed_queue q where q.entry = any (v_next) for update skip locked);
            end if;
            if not exists (select unnest(v_next) except select unnest(v_lock)) then
                return v_next;
            end if;
            raise exception using errcode = 'PQ00A';
        -- all is unlocked, and locked again in order, with who came next
        exception when sqlstate 'PQ00A' or deadlock_detected then
            if sqlstate = '40P01' and v_try > 1 then raise; end if; -- SKIP LOCKED may wait, see ADR 8
        end;
    end loop;
end $$;

comment on function _queue_lock_lines(bigint[], bigint[]) is
$$Locks messages that are to end and who comes next in the lines of their order keys, so that nobody is waited for once
one of them has ended: that could be a deadlock.
in_entries: the messages. in_others: what else to lock; NULL: nothing.
Result: who comes next.
Locks: as said, in the order of their entries.
differs: a line has a row of its own in queue_order on MariaDB and MySQL, and that is locked instead.$$;
