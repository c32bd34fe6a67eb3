-- calls: _queue_limited_until, _queue_permits_ready, _queue_setting, _queue_shared_cursor, _queue_use
create or replace function _queue_ready(in_kind text, in_now bigint, out ready boolean,
    out next_at bigint) language plpgsql as $$
declare
    v_cursor queue_cursor;
    v_end bigint;
    v_kind queue_kind;
    v_slot bigint;
begin
    ready := false;
    select k.* into v_kind from queue_kind k where k.p_kind = in_kind;
    if v_kind.expires_seconds is not null then -- who waits for it uses it
        perform _queue_use(v_kind, in_now);
    end if;
    if v_kind.paused then
        return;
    end if;
    if coalesce(v_kind.max_reserved, v_kind.rate_per_second) is not null then
        next_at := _queue_limited_until(v_kind, in_now);
        if next_at is not null then
            return;
        end if;
    end if;
    if v_kind.semaphores then
        select s.ready, s.next_at into ready, v_slot from _queue_permits_ready(in_kind, in_now) s;
        if ready then
            return;
        end if;
    end if;
    if exists (select from queue_group_due) and exists ( -- a reserve looks whether all is done
        select from queue_group_due d join queue_group g on g.group_name between d.group_name and d.group_name
        where in_kind in (g.then_kind, g.fail_kind)
            and d.writer is distinct from pg_current_xact_id_if_assigned()::text::bigint) then
        ready := true;
        return;
    end if;
    v_cursor := nullif(current_setting(_queue_setting('cursor ' || in_kind), true), '')::queue_cursor;
    if v_cursor.p_kind is null then
        v_cursor := _queue_shared_cursor(in_kind, in_now);
    end if;
    if v_cursor.took > 5000 then -- a look from the start is slow
        ready := exists (
                select from delayed_queue d where d.p_kind = in_kind and d.due_at between v_cursor.due and in_now)
            or exists (
                select from unnest(-2147483648::bigint || v_cursor.ranks, 0::bigint || v_cursor.places,
                        v_cursor.ranks || 2147483648) a (rank, place, next_rank),
                    lateral (
                        select from delayed_queue q
                        where q.p_kind = in_kind and q.ready_at is not null and q.scheduled_at <= in_now
                            and (-q.priority::integer, q.ready_at, q.entry) >= (a.rank, a.place, 0)
                            and -q.priority::integer < a.next_rank
                        order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit 1) l)
            or exists (
                select from (
                    select o.entries from queue_hold o where o.p_kind = in_kind
                        and o.until between v_cursor.hold_from and in_now
                    order by o.p_kind, o.until limit 100) h, delayed_queue q
                where q.entry = any (h.entries) and q.reserved_at is not null and q.scheduled_at <= in_now);
        if not ready then
            next_at := least(
                (select d.due_at from delayed_queue d where d.p_kind = in_kind and d.due_at > in_now
                    order by d.p_kind, d.due_at limit 1),
                (select h.until from queue_hold h where h.p_kind = in_kind and h.until > in_now
                    order by h.p_kind, h.until limit 1), v_slot);
        end if;
        return;
    end if;
    next_at := (
        select d.due_at from delayed_queue d where d.p_kind = in_kind and d.due_at is not null
            order by d.p_kind, d.due_at limit 1);
    ready := coalesce(next_at <= in_now, false) or (
        select true from delayed_queue q where q.p_kind = in_kind and q.ready_at is not null
            and q.scheduled_at <= in_now
        order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit 1) is not null;
    if ready then
        next_at := null;
        return;
    end if;
    select min(l.scheduled_at) into v_end from (
        select q.scheduled_at from delayed_queue q where q.p_kind = in_kind and q.ready_at is not null
            and (-q.priority::integer, q.ready_at, q.entry) >= (-32768, 0, 0) -- ADR 13
        order by q.p_kind, -q.priority::integer, q.ready_at, q.entry limit 100) l;
    next_at := least(next_at, v_end, v_slot);
end $$;

comment on function _queue_ready(text, bigint) is
$$Whether a message of a kind may be taken, and if not, when the next may be; no message is locked.
in_kind: the kind. in_now: the time of the call.
Result: ready: false also while the kind is paused or at its limits; others may be taking what is there. next_at: when
the next delayed message falls due, or one of the first 100 holds in the ready line ends; NULL: none. Where a scan from
the start is slow, what a reserve would find from its cursor on is ready, and holds by the notes of their ends; at the
limits next_at is what _queue_limited_until answers.$$;
