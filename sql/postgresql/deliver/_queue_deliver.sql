-- calls: _queue_blocked, _queue_groups_due, _queue_permits_look, _queue_permits_take, _queue_setting, _queue_take,
--     _queue_take_where
-- changes: queue_count, queue_hold
create or replace function _queue_deliver(in_kind queue_kind, in_max integer, in_now bigint, in_until bigint,
    in_where jsonb, out tids tid[], out ended bigint[], out held boolean) language plpgsql as $$
declare
    v_pops constant boolean := in_until is null;
    v_most constant integer := coalesce(in_kind.max_attempts, 2147483647);
    v_guarded boolean := in_kind.semaphores;
    v_looked boolean := false;
    v_slow boolean := false;
    v_rounds integer := 0;
    v_expired bigint := 0;
    v_passed tid[] := '{}';
    v_tids tid[];
    v_take record;
    v_permits record;
begin
    perform _queue_groups_due(in_now);
    tids := '{}';
    ended := '{}';
    held := coalesce(current_setting(_queue_setting('permits'), true) = 'held', false); -- by queue_next
    while cardinality(tids) < in_max and v_rounds < 100 loop
        if in_where is null then
            v_take := _queue_take(in_kind.p_kind, in_max + cardinality(v_passed), in_now, v_most);
        else
            v_take := _queue_take_where(in_kind, in_max + cardinality(v_passed), in_now, in_where);
        end if;
        exit when v_take.tids is null and not v_guarded;
        v_slow := v_slow or v_take.slow;
        if v_take.ends = 0 and not v_guarded and in_kind.payload_shape is null and tids = '{}' and v_passed = '{}'
            and (not v_pops or _queue_blocked(v_take.tids) = '{}') then -- most calls: all can be delivered
            tids := v_take.tids;
            v_expired := v_expired + v_take.expired;
            exit;
        end if;
        v_tids := array(
            select t.tid from unnest(v_take.tids) with ordinality t (tid, n) where t.tid <> all (tids || v_passed)
            order by t.n limit in_max - cardinality(tids));
        if v_tids = '{}' then
            exit when v_looked or not v_guarded
                or _queue_permits_look(in_kind.p_kind, in_max::bigint - cardinality(tids), in_now) = 0;
            v_looked := true;
            held := true;
            continue;
        end if;
        if v_pops then
            v_passed := v_passed || _queue_blocked(v_tids);
            v_tids := array(select t.tid from unnest(v_tids) t (tid) where t.tid <> all (v_passed));
        end if;
        v_permits := _queue_permits_take(v_tids, in_kind, coalesce(in_until, in_now + 1), held, in_now);
        v_guarded := v_guarded or v_permits.named; -- or the mark of the kind was lost
        held := v_permits.held;
        tids := array(
            select q.ctid from delayed_queue q where q.ctid = any (tids || v_permits.tids)
            order by -q.priority::integer, q.ready_at, q.entry);
        v_passed := v_passed || v_permits.passed;
        ended := ended || v_permits.ended;
        v_expired := v_expired + v_permits.expired;
        v_rounds := v_rounds + (v_permits.ended = '{}')::integer;
        exit when not v_guarded and v_permits.ended = '{}' and v_passed = '{}';
    end loop;
    if v_slow and not v_pops and tids <> '{}' then
        insert into queue_hold (p_kind, until, entries)
        select in_kind.p_kind, in_until, array_agg(q.entry) from delayed_queue q where q.ctid = any (tids);
    end if;
    if v_expired > 0 then
        insert into queue_count (p_kind, reserved, expired) values (in_kind.p_kind, v_expired, v_expired);
    end if;
    if v_guarded and v_pops then
        ended := ended || array(select q.entry from delayed_queue q where q.ctid = any (tids));
    elsif (ended = '{}' or not v_guarded) and coalesce(current_setting(_queue_setting('settle'), true), '') = '' then
        ended := null;
    end if;
    held := held or not v_guarded;
end $$;

comment on function _queue_deliver(queue_kind, integer, bigint, bigint, jsonb) is
$$The verb deliver: chooses messages, and locks them for the caller to hold or to end. queue_reserve and queue_pop do it
themselves in the most frequent case alone: one message, from the cursor on. One that names semaphores is chosen with a
permit of each, or goes to wait in line, and others are looked for; what can't be delivered is ended.
in_kind: the settings of the kind. in_max: how many messages. in_now: the time of the call. in_until: when the hold
ends; NULL: they end at once. Then the next in the lines of their order keys are locked, too, and none of these comes
with the first. in_where: what they must match, see _queue_where; NULL: anything.
Result: tids: their row identifiers, in the order of delivery; ended: what the caller, once it has held or ended them,
gives to _queue_permits_settle, NULL: nothing; held: whether it must not wait there.
Locks: the messages, as _queue_take; with in_until NULL the next in the lines; then the semaphores, see
_queue_permits_take. No message is waited for.
differs: on MariaDB and MySQL it checks and holds, too, and _queue_take_with_permits has the way with semaphores.$$;
