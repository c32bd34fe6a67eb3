-- calls: _queue_check_count, _queue_drain_inbox, _queue_expire, _queue_fold_counts, _queue_groups_due,
--     _queue_log_horizon, _queue_permits_sweep, _queue_prune_groups, _queue_prune_kind, _queue_prune_terms,
--     _queue_stage_prune, queue_now
-- changes: queue_epoch
create procedure queue_prune(in in_max_rows bigint)
    comment 'Clears away what is past its time, in chunks. That is history, remembered keys and the log, older than
history_seconds, dedup_seconds and log_seconds of their kind say now; what was staged and never published; kinds that
are unused for longer than their expires_seconds; groups past their keep_seconds. It also removes messages that have
gone from the index of filters (each call looks at a part of it), and folds counters. Permits of semaphores whose holds
have expired go to who waits for them. Any number of sessions may call it at any time. queue_reserve and queue_pop do
a little of it by the way, so a kind that is in use needs nobody who calls it.
in_max_rows: how many rows to look at, 1 to 1000000; NULL: 10000.
Result: pruned: how many rows went; 0 when there is nothing left to do.
Errors: PQ001 for max_rows. On PostgreSQL there may be a warning: others may create in the schema of the queue, or
have; or anybody may execute its routines. It says what to do about it. Another warning says that a sequence was
behind its table, and has been set.
Locks: the rows; what others have locked is left.
differs: it also takes in what has landed in queue_inbox, where the server allows no trigger.'
begin
    declare v_pruned bigint;
    begin atomic
        declare v_now, v_rows, v_known, v_before bigint;
        declare v_left bigint default coalesce(in_max_rows, 10000);
        declare v_kind, v_history, v_dedup, v_log varchar(100) collate exact default '';
        set v_pruned = null;
        call _queue_drain_inbox();
        call queue_now(v_now);
        call _queue_check_count(v_left, 'max_rows', 1000000);
        call _queue_fold_counts(v_left, v_pruned);
        call _queue_stage_prune(v_now, v_left, v_rows);
        set v_pruned = v_pruned + v_rows, v_left = v_left - v_rows;
        call _queue_expire(v_now, greatest(v_left, 1), v_rows);
        set v_pruned = v_pruned + v_rows, v_left = v_left - v_rows;
        call _queue_groups_due(v_now, v_rows);
        call _queue_prune_groups(v_now, greatest(v_left, 1), v_rows);
        if @pyqueue_own then
            call _queue_log_horizon(v_now, v_known); -- noted for readers in transactions
        end if;
        set v_pruned = v_pruned + v_rows, v_left = v_left - v_rows;
        call _queue_prune_terms(greatest(v_left, 1), v_rows);
        set v_pruned = v_pruned + v_rows, v_left = v_left - v_rows;
        while v_kind is not null and v_left > 0 do
            select min(h.p_kind) into v_history from queue_history h where h.p_kind > v_kind;
            select min(d.p_kind) into v_dedup from queue_dedup d where d.p_kind > v_kind;
            select min(l.p_kind) into v_log from queue_log l where l.p_kind > v_kind;
            select min(o.p_kind) into v_kind
                from (select v_history as p_kind union all select v_dedup union all select v_log) o;
            if v_kind is not null then
                call _queue_prune_kind(v_kind, v_now, v_left, v_rows);
                set v_pruned = v_pruned + v_rows, v_left = v_left - v_rows;
            end if;
        end while;
        call _queue_permits_sweep(v_now);
        -- epochs that no server is in any more
        select min(n.epoch) into v_before
            from (select e.epoch from queue_epoch e order by e.epoch desc, e.id desc limit 100) n;
        delete e from queue_epoch e where e.epoch < v_before order by e.epoch, e.id limit 1000
        skip locked by (epoch bigint, id bigint);
    end atomic;
    select v_pruned as pruned;
end;
