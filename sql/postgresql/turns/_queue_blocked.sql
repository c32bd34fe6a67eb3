create or replace function _queue_blocked(in_tids tid[]) returns tid[] language plpgsql as $$
declare
    v_next bigint[];
    v_tids tid[];
    v_locked bigint[];
begin
    select array_agg(n.entry), array_agg(q.ctid) into v_next, v_tids
    from delayed_queue q, lateral (
        select w.entry from delayed_queue w -- BETWEEN: ADR 13
        where w.p_kind = q.p_kind and w.order_key between q.order_key and q.order_key and w.order_waits
        order by w.p_kind, w.order_key, w.entry limit 1) n
    where q.ctid = any (in_tids) and q.order_key is not null;
    if v_next is null then
        return '{}';
    end if;
    v_locked := array(select q.entry from delayed_queue q where q.entry = any (v_next) for update skip locked);
    return array(select n.tid from unnest(v_next, v_tids) n (entry, tid) where n.entry <> all (v_locked));
end $$;

comment on function _queue_blocked(tid[]) is
$$Whom a pop leaves alone: to wait for the next in a line with others taken already could be a deadlock.
in_tids: the row identifiers of messages that were taken.
Result: those of which somebody has locked the next in the line of their order key.
Locks: the next of the others.
differs: a line has a row of its own in queue_order on MariaDB and MySQL, and that is locked instead.$$;
