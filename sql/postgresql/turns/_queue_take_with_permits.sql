-- calls: _queue_blocked, _queue_permits_look, _queue_permits_take, _queue_setting, _queue_take, _queue_take_where
create or replace function _queue_take_with_permits(in_kind queue_kind, in_max integer, in_now bigint, in_until bigint,
    in_where jsonb, in_ends boolean, out tids tid[], out expired bigint, out slow boolean, out ended bigint[],
    out held boolean) language plpgsql as $$
declare
    v_rounds integer := 0;
    v_looked boolean := false;
    v_passed tid[] := '{}';
    v_tids tid[];
    v_take record;
    v_permits record;
begin
    tids := '{}';
    expired := 0;
    slow := false;
    ended := '{}';
    -- by queue_next, for what it acks
    held := coalesce(current_setting(_queue_setting('permits'), true) = 'held', false);
    while cardinality(tids) < in_max and v_rounds < 100 loop
        if in_where is null then
            v_take := _queue_take(in_kind.p_kind, in_max + cardinality(v_passed), in_now);
        else
            v_take := _queue_take_where(in_kind, in_max + cardinality(v_passed), in_now, in_where);
        end if;
        v_tids := array(
            select t.tid from unnest(v_take.tids) with ordinality t (tid, n) where t.tid <> all (tids || v_passed)
            order by t.n limit in_max - cardinality(tids));
        if v_tids = '{}' then
            exit when v_looked or _queue_permits_look(in_kind.p_kind, in_max::bigint - cardinality(tids), in_now) = 0;
            v_looked := true;
            held := true;
            continue;
        end if;
        if in_ends then
            v_passed := v_passed || _queue_blocked(v_tids);
            v_tids := array(select t.tid from unnest(v_tids) t (tid) where t.tid <> all (v_passed));
        end if;
        v_permits := _queue_permits_take(v_tids, in_kind, in_until, held, in_now);
        held := v_permits.held;
        tids := tids || v_permits.tids;
        v_passed := v_passed || v_permits.passed;
        ended := ended || v_permits.ended;
        expired := expired + v_permits.expired;
        slow := slow or v_take.slow;
        v_rounds := v_rounds + (v_permits.ended = '{}')::integer;
    end loop;
end $$;

comment on function _queue_take_with_permits(queue_kind, integer, bigint, bigint, jsonb, boolean) is
$$What _queue_take does for a kind with messages that name semaphores: one of these is taken with a permit of each of
its semaphores, or goes to wait in line, and others are looked for.
in_kind: the settings of the kind. in_max: how many. in_now: the time of the call. in_until: when the holds end.
in_where: what they must match, see _queue_where; NULL: anything. in_ends: whether the call ends what it takes, so that
the next in the lines of their order keys are locked; none of these comes with the first.
Result: tids: row identifiers of those that can be delivered; expired: how many holds ended with this; slow: as of
_queue_take; ended, held: as of _queue_permits_take. At its end the caller has _queue_permits_settle free the permits of
what was ended.
Locks: as _queue_take, with in_ends the next in the lines, then the semaphores, see _queue_permits_take; no message is
waited for.$$;
