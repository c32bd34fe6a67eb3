-- calls: _queue_fold_counts, _queue_groups_due, _queue_prune_by_the_way, _queue_prune_terms, _queue_reap
create procedure _queue_upkeep(in in_kind text collate exact, in in_keeps boolean, in in_now bigint, in in_max int,
    in in_worker text collate exact)
    comment 'Now and then a little of what queue_prune does, at the end of one queue_reserve or queue_pop in twenty.
in_kind: the kind. in_keeps: whether it has a history or remembers keys. in_now: the time of the call. in_max: how many
rows, about twice of what ends between two such calls. in_worker: who calls; NULL: it has no name. Where another
registered worker is gone, some of what it held is freed too; who calls is there, and has just got messages.'
begin
    declare v_folded, v_looked, v_pruned bigint;
    declare v_filter, v_late boolean;
    declare v_reaped longtext;
    -- not EXISTS in an IF, which would lock the row
    select max(k.filter_index) into v_filter from queue_kind k where k.p_kind = in_kind;
    if v_filter then
        call _queue_prune_terms(10 * in_max, v_pruned);
    end if;
    call _queue_groups_due(in_now, v_looked);
    -- Whatever ended the session that a client had before may have ended those of workers that live. They have the
    -- timeout of their heartbeat to come back, so a session that is new here doesn't reap.
    if @pyqueue_reap <= in_now then
        select min(@pyqueue_reap + w.timeout_seconds * 1000000 <= in_now) into v_late from queue_worker w
        where not w.worker <=> in_worker and not _queue_is_alive(w, in_now);
        if v_late then
            call _queue_reap(in_now, 100, in_worker, v_reaped);
        end if;
    else
        set @pyqueue_reap = in_now;
    end if;
    if rand() < 0.01 then
        call _queue_fold_counts(10000, v_folded); -- nobody may ever call queue_prune
        call _queue_prune_by_the_way(in_kind, in_now, 1000);
    elseif in_keeps then
        call _queue_prune_by_the_way(in_kind, in_now, in_max);
    end if;
end;
