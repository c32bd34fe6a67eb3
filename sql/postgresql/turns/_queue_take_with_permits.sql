-- calls: _queue_blocked, _queue_members_settle, _queue_permits_look, _queue_permits_take, _queue_setting,
--     _queue_take, _queue_take_where
create or replace function _queue_take_with_permits(in_kind queue_kind, in_max integer, in_now bigint, in_until bigint,
    in_where jsonb, in_tids tid[], in_slow boolean, out tids tid[], out expired bigint, out slow boolean,
    out ended bigint[], out held boolean) language plpgsql as $$
declare
    v_name constant text := _queue_setting('cursor ' || in_kind.p_kind);
    v_cursor text;
    v_guarded boolean := in_kind.semaphores;
    v_looked boolean := false;
    v_rounds integer := 0;
    v_found tid[] := in_tids;
    v_passed tid[] := '{}';
    v_take record;
    v_permits record;
begin
    tids := '{}';
    expired := 0;
    slow := in_slow;
    ended := '{}';
    -- by queue_next, for what it acks
    held := coalesce(current_setting(_queue_setting('permits'), true) = 'held', false);
    loop
        if v_found is null or v_found = '{}' then
            exit when v_looked or not v_guarded;
            perform _queue_members_settle(in_now) where current_setting(_queue_setting('members'), true) <> '';
            exit when _queue_permits_look(in_kind.p_kind, in_max::bigint - cardinality(tids), in_now) = 0;
            v_looked := true;
            held := true;
        else
            if in_until is null then
                v_passed := v_passed || _queue_blocked(v_found);
                v_found := array(select f.tid from unnest(v_found) f (tid) where f.tid <> all (v_passed));
            end if;
            v_permits := _queue_permits_take(v_found, in_kind, coalesce(in_until, in_now + 1), held, in_now);
            v_guarded := v_guarded or v_permits.named; -- or the mark of the kind was lost
            held := v_permits.held;
            tids := array(
                select q.ctid from delayed_queue q where q.ctid = any (tids || v_permits.tids)
                order by -q.priority::integer, q.ready_at, q.entry);
            v_passed := v_passed || v_permits.passed;
            ended := ended || v_permits.ended;
            expired := expired + v_permits.expired;
            v_rounds := v_rounds + (v_permits.ended = '{}')::integer;
            exit when cardinality(tids) = in_max or v_rounds = 100
                or not v_guarded and v_permits.ended = '{}' and v_passed = '{}';
        end if;
        v_cursor := current_setting(v_name, true);
        if in_where is null then
            v_take := _queue_take(in_kind.p_kind, in_max + cardinality(v_passed), in_now,
                coalesce(in_kind.max_attempts, 2147483647));
        else
            v_take := _queue_take_where(in_kind, in_max + cardinality(v_passed), in_now, in_where);
        end if;
        slow := slow or v_take.slow;
        v_found := array(
            select f.tid from (
                select t.tid, t.n from unnest(v_take.tids) with ordinality t (tid, n)
                union all select k.tid, 0 from unnest(tids || v_passed) k (tid)) f
            group by f.tid having min(f.n) > 0 order by min(f.n));
        if cardinality(v_found) > in_max - cardinality(tids) then -- the cursor is behind what is left for the next call
            perform set_config(v_name, v_cursor, false) where in_where is null;
            v_found := v_found[:in_max - cardinality(tids)];
        end if;
    end loop;
    perform _queue_members_settle(in_now) where current_setting(_queue_setting('members'), true) <> '';
    if not v_guarded then
        ended := null;
    end if;
end $$;

comment on function _queue_take_with_permits(queue_kind, integer, bigint, bigint, jsonb, tid[], boolean) is
$$What _queue_deliver does where not all that _queue_take has found can be delivered, or may name semaphores. One that
names semaphores is taken with a permit of each, or goes to wait in line; what can't be delivered is ended; and others
are looked for.
in_kind: the settings of the kind. in_max: how many. in_now: the time of the call. in_until: when the holds end; NULL:
the call ends what it takes, so that the next in the lines of their order keys are locked; none of these comes with the
first. in_where: what they must match, see _queue_where; NULL: anything. in_tids, in_slow: what was found first.
Result: tids: row identifiers of those that can be delivered, in the order of delivery; expired: how many holds ended
with this; slow: as of _queue_take; ended, held: as of _queue_permits_take, ended NULL where none names semaphores. At
its end the caller has _queue_permits_settle free the permits of what was ended.
Locks: as _queue_take, for a pop the next in the lines, then the semaphores, see _queue_permits_take; no message is
waited for.$$;
