-- changes: delayed_queue
create or replace function _queue_promote_found(in_tids tid[], in_slow boolean,
    in_now bigint) returns tid[] language plpgsql as $$
declare
    v_entered tid[];
begin
    with u as (
        update delayed_queue q set ready_at = greatest(q.due_at, case when in_slow then in_now - 1000000 else 0 end),
            due_at = null
        where q.ctid = any (in_tids) and q.due_at + 0 is not null returning q.ctid as tid)
    select array_agg(u.tid) into v_entered from u;
    return coalesce(v_entered, '{}');
end $$;

comment on function _queue_promote_found(tid[], boolean, bigint) is
$$Moves messages that have come due, and that a filter found, from the timetable into the ready line; see
_queue_promote.
in_tids: the messages, locked already; what is in the line stays. in_slow: whether sessions no longer look at the line's
beginning.
in_now: the time of the call.
Result: where they are now, row identifiers.
differs: on MariaDB and MySQL it is a part of _queue_take_candidates.$$;
