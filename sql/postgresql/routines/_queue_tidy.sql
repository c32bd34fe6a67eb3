create or replace function _queue_tidy(in_kind queue_kind, in_now bigint, in_max bigint) returns void language plpgsql as $$
begin
    perform _queue_groups_due(in_now);
    if in_kind.filter_index then
        perform _queue_prune_terms(10 * in_max);
    end if;
    if exists (
        select from queue_worker w
        where not _queue_is_alive(w.session_lock, w.session_id, (w.heartbeat_at + w.timeout_seconds * 1000000)::bigint, in_now)) then
        perform _queue_reap(in_now);
    end if;
    if random() < 0.01 then
        perform _queue_fold_counts(10000::bigint); -- nobody may ever call queue_prune
        perform _queue_prune_by_the_way(in_kind.p_kind, in_now, 1000::bigint);
    elsif in_kind.history_seconds > 0 or in_kind.dedup_seconds > 0 or in_kind.log_seconds > 0 then
        perform _queue_prune_by_the_way(in_kind.p_kind, in_now, in_max);
    end if;
end $$;

comment on function _queue_tidy(queue_kind, bigint, bigint) is
$$A little of what queue_prune and queue_reap do, in one of 20 calls of queue_reserve and queue_pop; of the counters in one of 2,000.
in_kind: the kind. in_now: the time of the call. in_max: how many rows, about twice of what ends between two such calls.$$;
