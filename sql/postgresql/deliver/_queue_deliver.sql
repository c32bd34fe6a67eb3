-- calls: _queue_advance, _queue_blocked, _queue_end, _queue_end_undeliverable, _queue_groups_due, _queue_misfit,
--     _queue_permits_settle, _queue_setting, _queue_take, _queue_take_where, _queue_take_with_permits
-- changes: delayed_queue, queue_count, queue_hold
create or replace function _queue_deliver(in_kind queue_kind, in_max integer, in_now bigint, in_until bigint,
    in_worker text, in_seed bytea, in_where jsonb)
    returns table (p_kind text, p_key text, payload jsonb, payload_bytes bytea, headers jsonb,
        priority smallint, scheduled_at bigint, scheduled_at_initially bigint, created_at bigint, reserved_at bigint,
        attempts integer, reserved_by text, receipt text, errors jsonb) language plpgsql as $$
declare
    v_ends constant boolean := in_until is null;
    v_keeps constant boolean := in_kind.history_seconds > 0 or in_kind.dedup_seconds > 0 or in_kind.log_seconds > 0;
    v_most constant integer := coalesce(in_kind.max_attempts, 2147483647);
    v_left integer := in_max;
    v_guarded boolean := in_kind.semaphores;
    v_ended bigint[] := '{}';
    v_entries bigint[];
    v_take record;
    v_rows integer;
begin
    perform _queue_groups_due(in_now);
    loop
        if v_guarded then
            v_take := _queue_take_with_permits(in_kind, v_left, in_now, coalesce(in_until, in_now + 1), in_where,
                v_ends);
            v_ended := v_ended || v_take.ended ||
                array(select q.entry from delayed_queue q where v_ends and q.ctid = any (v_take.tids));
        elsif in_where is null then
            v_take := _queue_take(in_kind.p_kind, v_left, in_now);
        else
            v_take := _queue_take_where(in_kind, v_left, in_now, in_where);
        end if;
        exit when v_take.tids is null;
        if v_guarded or in_where is not null or v_take.expired > 0 then -- of several looks
            v_take.tids := array(
                select q.ctid from delayed_queue q where q.ctid = any (v_take.tids)
                    order by -q.priority::integer, q.ready_at, q.entry);
        end if;
        if v_ends then
            if not v_guarded and _queue_blocked(v_take.tids) <> '{}' then
                v_guarded := true; -- that way knows how to look further
                continue;
            end if;
            if v_keeps then -- the long way
                v_entries := array(
                    select q.entry from unnest(v_take.tids) t (tid) join delayed_queue q on q.ctid = t.tid
                    where q.pending is null and (v_guarded or q.semaphores is null or q.source_kind is not null)
                        and q.attempts < coalesce(q.max_attempts, v_most)
                        and (in_kind.payload_shape is null or _queue_misfit(in_kind.payload_shape, q.payload) is null));
                return query
                    select q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
                        q.scheduled_at_initially, q.created_at, in_now, q.attempts + 1, null::text, null::text, q.errors
                    from unnest(v_entries) e (entry) join delayed_queue q on q.entry between e.entry and e.entry;
                get diagnostics v_rows = row_count;
                perform _queue_end(v_entries, null::bytea[], 'popped', null::text, in_now);
            else
                return query
                    with d as (
                        delete from delayed_queue q using unnest(v_take.tids) t (tid)
                        where q.ctid = t.tid and q.pending is null
                            and (v_guarded or q.semaphores is null or q.source_kind is not null)
                            and q.attempts < coalesce(q.max_attempts, v_most) and (in_kind.payload_shape is null
                                or _queue_misfit(in_kind.payload_shape, q.payload) is null)
                        returning q.*),
                    c as (
                        insert into queue_count (p_kind, pushed, popped)
                        select in_kind.p_kind, count(*) - count(d.source_kind), count(*) from d
                        -- all of them are deleted by now
                        having count(*) > 0 and case when count(d.order_key) > 0 then _queue_advance(
                            array_agg(d.p_kind) filter (where d.order_key is not null),
                            array_agg(d.order_key) filter (where d.order_key is not null), in_now,
                            null::bigint[]) is not null
                            else true end)
                    select d.p_kind, d.p_key, d.payload, d.payload_bytes, d.headers, d.priority, d.scheduled_at,
                        d.scheduled_at_initially, d.created_at, in_now, d.attempts + 1, null::text, null::text, d.errors
                    from d;
                get diagnostics v_rows = row_count;
            end if;
        else
            if v_take.slow then
                insert into queue_hold (p_kind, until, entries)
                select in_kind.p_kind, in_until, array_agg(q.entry) from delayed_queue q
                    where q.ctid = any (v_take.tids)
                having count(*) > 0;
            end if;
            return query
                update delayed_queue q
                set scheduled_at = in_until, reserved_at = in_now, attempts = q.attempts + 1, reserved_by = in_worker,
                    secret = substr(sha256(in_seed || int8send(q.entry)), 1, 16)
                from unnest(v_take.tids) t (tid)
                where q.ctid = t.tid and q.pending is null
                    and (v_guarded or q.semaphores is null or q.source_kind is not null)
                    and q.attempts < coalesce(q.max_attempts, v_most)
                    and (in_kind.payload_shape is null or _queue_misfit(in_kind.payload_shape, q.payload) is null)
                returning q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
                    q.scheduled_at_initially, q.created_at, q.reserved_at, q.attempts, q.reserved_by,
                    q.entry || '-' || encode(q.secret, 'hex'), q.errors;
            get diagnostics v_rows = row_count;
        end if;
        if v_rows < cardinality(v_take.tids) and exists (
            select from delayed_queue q where q.ctid = any (v_take.tids) and q.semaphores is not null
                and q.source_kind is null
                and q.scheduled_at <= in_now)
        then -- the mark of the kind was lost: all that is left is found again
            v_guarded := true;
            v_take.expired := v_take.expired - (
                select count(q.reserved_at) from delayed_queue q
                    where q.ctid = any (v_take.tids) and q.scheduled_at <= in_now);
        end if;
        if v_take.expired > 0 then
            insert into queue_count (p_kind, reserved, expired) values (in_kind.p_kind, v_take.expired, v_take.expired);
        end if;
        exit when v_rows = cardinality(v_take.tids);
        v_left := v_left - v_rows;
        continue when v_guarded;
        perform _queue_end_undeliverable(v_take.tids, in_now);
        exit when v_left = 0;
    end loop;
    if v_guarded and (v_ends or v_ended <> '{}') then
        perform _queue_permits_settle(v_ended, null::text[], not v_take.held, in_now);
    elsif current_setting(_queue_setting('settle'), true) <> '' then
        perform _queue_permits_settle(null::bigint[], null::text[], false, in_now);
    end if;
end $$;

comment on function _queue_deliver(queue_kind, integer, bigint, bigint, text, bytea, jsonb) is
$$The verb deliver: chooses messages, holds them for a worker, or ends them at once for a pop, and answers them.
queue_reserve and queue_pop do it themselves in the most frequent case alone: one message, from the cursor on.
in_kind: the settings of the kind. in_max: how many messages. in_now: the time of the call. in_until: when the hold
ends; NULL: they end, as popped. in_worker: who takes them. in_seed: what their secrets are made of, with their entries.
in_where: what they must match, see _queue_where; NULL: anything.
Result and locks: those of queue_reserve and queue_pop; the receipt of a popped message is NULL.
differs: a procedure of MariaDB and MySQL can't hand rows to another one, so it hands over entries there.$$;
