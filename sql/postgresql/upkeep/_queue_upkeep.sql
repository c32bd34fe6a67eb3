-- calls: _queue_fold_counts, _queue_groups_due, _queue_is_alive, _queue_members_settle, _queue_prune_by_the_way,
--     _queue_prune_terms, _queue_reap, _queue_setting
create or replace function _queue_upkeep(in_kind queue_kind, in_now bigint,
    in_max bigint) returns void language plpgsql as $$
declare
    v_name constant text := _queue_setting('reap');
    v_since constant bigint := nullif(current_setting(v_name, true), '')::bigint;
begin
    perform _queue_groups_due(in_now);
    perform _queue_prune_terms(10 * in_max) where in_kind.filter_index;
    -- Whatever ended the session that a client had before may have ended those of workers that live. They have the
    -- timeout of their heartbeat to come back, so a session that is new here doesn't reap.
    if v_since <= in_now then
        if (select bool_and(v_since + w.timeout_seconds * 1000000 <= in_now)
            from queue_worker w where not _queue_is_alive(w, in_now)) then
            perform _queue_reap(in_now);
            perform _queue_members_settle(in_now);
        end if;
    else
        perform set_config(v_name, in_now::text, false);
    end if;
    if random() < 0.01 then
        perform _queue_fold_counts(10000::bigint); -- nobody may ever call queue_prune
        perform _queue_prune_by_the_way(in_kind.p_kind, in_now, 1000::bigint);
    elsif in_kind.history_seconds > 0 or in_kind.dedup_seconds > 0 or in_kind.log_seconds > 0 then
        perform _queue_prune_by_the_way(in_kind.p_kind, in_now, in_max);
    end if;
end $$;

comment on function _queue_upkeep(queue_kind, bigint, bigint) is
$$A little of what queue_prune and queue_reap do, in one of 20 calls of queue_reserve and queue_pop; of the counters in
one of 2,000.
in_kind: the kind. in_now: the time of the call. in_max: how many rows, about twice of what ends between two such
calls.$$;
