-- calls: _queue_advance, _queue_blocked, _queue_end, _queue_groups_due, _queue_misfit, _queue_permits_settle,
--     _queue_setting, _queue_take, _queue_take_where, _queue_take_with_permits
-- changes: delayed_queue, queue_count, queue_hold
create or replace function _queue_deliver(in_kind queue_kind, in_max integer, in_now bigint, in_until bigint,
    in_worker text, in_seed bytea, in_where jsonb)
    returns table (p_kind text, p_key text, payload jsonb, payload_bytes bytea, headers jsonb,
        priority smallint, scheduled_at bigint, scheduled_at_initially bigint, created_at bigint, reserved_at bigint,
        attempts integer, reserved_by text, receipt text, errors jsonb) language plpgsql as $$
declare
    v_pops constant boolean := in_until is null;
    v_take record;
    v_tids tid[]; v_expired bigint; v_slow boolean; v_ended bigint[]; v_held boolean;
begin
    perform _queue_groups_due(in_now);
    if in_where is null then
        v_take := _queue_take(in_kind.p_kind, in_max, in_now, coalesce(in_kind.max_attempts, 2147483647));
    else
        v_take := _queue_take_where(in_kind, in_max, in_now, in_where);
    end if;
    if v_take.ends = 0 and not in_kind.semaphores
        and (in_kind.payload_shape is null or not exists (
            select from delayed_queue q where q.ctid = any (v_take.tids)
                and _queue_misfit(in_kind.payload_shape, q.payload) is not null))
        and (not v_pops or _queue_blocked(v_take.tids) = '{}') then -- most calls: all can be delivered
        v_tids := v_take.tids;
        v_expired := v_take.expired;
        v_slow := v_take.slow;
    elsif v_take.tids is not null or in_kind.semaphores then
        select p.tids, p.expired, p.slow, p.ended, p.held into v_tids, v_expired, v_slow, v_ended, v_held
        from _queue_take_with_permits(in_kind, in_max, in_now, in_until, in_where, v_take.tids, v_take.slow) p;
    end if;
    if v_expired > 0 then
        insert into queue_count (p_kind, reserved, expired) values (in_kind.p_kind, v_expired, v_expired);
    end if;
    if v_tids <> '{}' and not v_pops then
        if v_slow then
            insert into queue_hold (p_kind, until, entries)
            select in_kind.p_kind, in_until, array_agg(q.entry) from delayed_queue q where q.ctid = any (v_tids);
        end if;
        return query
            update delayed_queue q
            set scheduled_at = in_until, reserved_at = in_now, attempts = q.attempts + 1, reserved_by = in_worker,
                secret = substr(sha256(in_seed || int8send(q.entry)), 1, 16)
            from unnest(v_tids) t (tid) where q.ctid = t.tid
            returning q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
                q.scheduled_at_initially, q.created_at, q.reserved_at, q.attempts, q.reserved_by,
                q.entry || '-' || encode(q.secret, 'hex'), q.errors;
    elsif v_tids <> '{}' then
        return query
            select q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
                q.scheduled_at_initially, q.created_at, in_now, q.attempts + 1, null::text, null::text, q.errors
            from unnest(v_tids) t (tid) join delayed_queue q on q.ctid = t.tid;
        v_ended := v_ended || array( -- NULL where no semaphore matters
            select q.entry from delayed_queue q where v_ended is not null and q.ctid = any (v_tids));
        if in_kind.history_seconds > 0 or in_kind.dedup_seconds > 0 or in_kind.log_seconds > 0 then
            perform _queue_end(array(select q.entry from unnest(v_tids) t (tid) join delayed_queue q on q.ctid = t.tid),
                null::bytea[], 'popped', null::text, in_now);
        else
            with d as (delete from delayed_queue q where q.ctid = any (v_tids) returning q.source_kind, q.order_key)
            insert into queue_count (p_kind, pushed, popped)
            select in_kind.p_kind, count(*) - count(d.source_kind), count(*) from d
            having count(d.order_key) = 0 or _queue_advance( -- all of them are deleted by now
                array_agg(in_kind.p_kind) filter (where d.order_key is not null),
                array_agg(d.order_key) filter (where d.order_key is not null), in_now, null::bigint[]) is not null;
        end if;
    end if;
    if v_ended <> '{}' then
        perform _queue_permits_settle(v_ended, null::text[], not v_held, in_now);
    elsif current_setting(_queue_setting('settle'), true) <> '' then
        perform _queue_permits_settle(null::bigint[], null::text[], false, in_now);
    end if;
end $$;

comment on function _queue_deliver(queue_kind, integer, bigint, bigint, text, bytea, jsonb) is
$$The verb deliver: chooses messages, holds them for a worker, or ends them at once for a pop, and answers them.
queue_reserve and queue_pop do it themselves in the most frequent case alone: one message, from the cursor on. What
needs a closer look is for _queue_take_with_permits.
in_kind: the settings of the kind. in_max: how many messages. in_now: the time of the call. in_until: when the hold
ends; NULL: they end, as popped.
in_worker: who takes them. in_seed: what their secrets are made of, with their entries. in_where: what they must match,
see _queue_where; NULL: anything.
Result: that of queue_reserve and queue_pop; the receipt of a popped message is NULL.
Locks: those of queue_reserve and queue_pop.
differs: a procedure of MariaDB and MySQL can't hand rows to another one, so it hands over entries there.$$;
