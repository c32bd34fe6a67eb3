-- calls: _queue_advance, _queue_blocked, _queue_end, _queue_groups_due, _queue_misfit, _queue_permits_look,
--     _queue_permits_settle, _queue_permits_take, _queue_setting, _queue_take, _queue_take_where
-- changes: delayed_queue, queue_count, queue_hold
create or replace function _queue_deliver(in_kind queue_kind, in_max integer, in_now bigint, in_until bigint,
    in_worker text, in_seed bytea, in_where jsonb)
    returns table (p_kind text, p_key text, payload jsonb, payload_bytes bytea, headers jsonb,
        priority smallint, scheduled_at bigint, scheduled_at_initially bigint, created_at bigint, reserved_at bigint,
        attempts integer, reserved_by text, receipt text, errors jsonb) language plpgsql as $$
declare
    v_pops constant boolean := in_until is null;
    v_name constant text := _queue_setting('cursor ' || in_kind.p_kind);
    v_cursor text;
    v_guarded boolean := in_kind.semaphores;
    v_held boolean := coalesce(current_setting(_queue_setting('permits'), true) = 'held', false); -- by queue_next
    v_looked boolean := false;
    v_slow boolean := false;
    v_rounds integer := 0;
    v_expired bigint := 0;
    v_tids tid[] := '{}';
    v_passed tid[] := '{}';
    v_ended bigint[] := '{}';
    v_new tid[];
    v_entries bigint[];
    v_take record;
    v_permits record;
begin
    perform _queue_groups_due(in_now);
    while cardinality(v_tids) < in_max and v_rounds < 100 loop
        v_cursor := current_setting(v_name, true);
        if in_where is null then
            v_take := _queue_take(in_kind.p_kind, in_max + cardinality(v_passed), in_now,
                coalesce(in_kind.max_attempts, 2147483647));
        else
            v_take := _queue_take_where(in_kind, in_max + cardinality(v_passed), in_now, in_where);
        end if;
        exit when v_take.tids is null and not v_guarded;
        v_slow := v_slow or v_take.slow;
        if v_take.ends = 0 and not v_guarded and v_tids = '{}' and v_passed = '{}'
            and (in_kind.payload_shape is null or not exists (
                select from delayed_queue q where q.ctid = any (v_take.tids)
                    and _queue_misfit(in_kind.payload_shape, q.payload) is not null))
            and (not v_pops or _queue_blocked(v_take.tids) = '{}') then -- most calls: all can be delivered
            v_tids := v_take.tids;
            v_expired := v_expired + v_take.expired;
            exit;
        end if;
        v_new := array(
            select f.tid from (
                select t.tid, t.n from unnest(v_take.tids) with ordinality t (tid, n)
                union all select k.tid, 0 from unnest(v_tids || v_passed) k (tid)) f
            group by f.tid having min(f.n) > 0 order by min(f.n));
        if cardinality(v_new) > in_max - cardinality(v_tids) then -- the cursor is behind what is left for the next call
            perform set_config(v_name, v_cursor, false) where in_where is null;
            v_new := v_new[:in_max - cardinality(v_tids)];
        end if;
        if v_new = '{}' then
            exit when v_looked or not v_guarded
                or _queue_permits_look(in_kind.p_kind, in_max::bigint - cardinality(v_tids), in_now) = 0;
            v_looked := true;
            v_held := true;
            continue;
        end if;
        if v_pops then
            v_passed := v_passed || _queue_blocked(v_new);
            v_new := array(select t.tid from unnest(v_new) t (tid) where t.tid <> all (v_passed));
        end if;
        v_permits := _queue_permits_take(v_new, in_kind, coalesce(in_until, in_now + 1), v_held, in_now);
        v_guarded := v_guarded or v_permits.named; -- or the mark of the kind was lost
        v_held := v_permits.held;
        v_tids := array(
            select q.ctid from delayed_queue q where q.ctid = any (v_tids || v_permits.tids)
            order by -q.priority::integer, q.ready_at, q.entry);
        v_passed := v_passed || v_permits.passed;
        v_ended := v_ended || v_permits.ended;
        v_expired := v_expired + v_permits.expired;
        v_rounds := v_rounds + (v_permits.ended = '{}')::integer;
        exit when not v_guarded and v_permits.ended = '{}' and v_passed = '{}';
    end loop;
    if v_expired > 0 then
        insert into queue_count (p_kind, reserved, expired) values (in_kind.p_kind, v_expired, v_expired);
    end if;
    if v_tids = '{}' then
        null;
    elsif not v_pops then
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
    else
        return query
            select q.p_kind, q.p_key, q.payload, q.payload_bytes, q.headers, q.priority, q.scheduled_at,
                q.scheduled_at_initially, q.created_at, in_now, q.attempts + 1, null::text, null::text, q.errors
            from unnest(v_tids) t (tid) join delayed_queue q on q.ctid = t.tid;
        v_entries := array(select q.entry from unnest(v_tids) t (tid) join delayed_queue q on q.ctid = t.tid);
        if in_kind.history_seconds > 0 or in_kind.dedup_seconds > 0 or in_kind.log_seconds > 0 then
            perform _queue_end(v_entries, null::bytea[], 'popped', null::text, in_now);
        else
            with d as (delete from delayed_queue q where q.ctid = any (v_tids) returning q.source_kind, q.order_key)
            insert into queue_count (p_kind, pushed, popped)
            select in_kind.p_kind, count(*) - count(d.source_kind), count(*) from d
            having count(d.order_key) = 0 or _queue_advance( -- all of them are deleted by now
                array_agg(in_kind.p_kind) filter (where d.order_key is not null),
                array_agg(d.order_key) filter (where d.order_key is not null), in_now, null::bigint[]) is not null;
        end if;
        v_ended := v_ended || v_entries;
    end if;
    if v_guarded and v_ended <> '{}' then
        perform _queue_permits_settle(v_ended, null::text[], not v_held, in_now);
    elsif current_setting(_queue_setting('settle'), true) <> '' then
        perform _queue_permits_settle(null::bigint[], null::text[], false, in_now);
    end if;
end $$;

comment on function _queue_deliver(queue_kind, integer, bigint, bigint, text, bytea, jsonb) is
$$The verb deliver: chooses messages, holds them for a worker, or ends them at once for a pop, and answers them.
queue_reserve and queue_pop do it themselves in the most frequent case alone: one message, from the cursor on. One that
names semaphores is taken with a permit of each, or goes to wait in line, and others are looked for; what can't be
delivered is ended.
in_kind: the settings of the kind. in_max: how many messages. in_now: the time of the call. in_until: when the hold
ends; NULL: they end, as popped; then one is passed over if somebody has locked the next in the line of its order key.
in_worker: who takes them. in_seed: what their secrets are made of, with their entries. in_where: what they must match,
see _queue_where; NULL: anything.
Result: that of queue_reserve and queue_pop; the receipt of a popped message is NULL.
Locks: the messages, as _queue_take; for a pop the next in their lines; then the semaphores, see _queue_permits_take. No
message is waited for.
differs: a procedure of MariaDB and MySQL can't hand rows to another one, so it hands over entries there, and
_queue_take_with_permits has the way with semaphores.$$;
