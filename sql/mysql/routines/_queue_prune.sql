drop procedure if exists _queue_prune;
delimiter $$
create procedure _queue_prune(in in_max_rows bigint, out out_pruned bigint)
    comment 'queue_prune without its transaction.
in_max_rows, and the errors: those of queue_prune. out_pruned: how many rows went.'
begin
    declare v_now, v_rows, v_known bigint;
    declare v_left bigint default coalesce(in_max_rows, 10000);
    declare v_kind, v_history, v_dedup, v_log varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ default '';
    call _queue_take_in();
    call queue_now(v_now);
    call _queue_check_count(v_left, 'max_rows', 1000000);
    call _queue_fold_counts(v_left, out_pruned);
    call _queue_stage_prune(v_now, v_left, v_rows);
    set out_pruned = out_pruned + v_rows, v_left = v_left - v_rows;
    call _queue_expire(v_now, greatest(v_left, 1), v_rows);
    set out_pruned = out_pruned + v_rows, v_left = v_left - v_rows;
    call _queue_groups_due(v_now, v_rows);
    call _queue_prune_groups(v_now, greatest(v_left, 1), v_rows);
    if @pyqueue_own then
        call _queue_log_horizon(v_now, v_known); -- noted for readers in transactions
    end if;
    set out_pruned = out_pruned + v_rows, v_left = v_left - v_rows;
    call _queue_prune_terms(greatest(v_left, 1), v_rows);
    set out_pruned = out_pruned + v_rows, v_left = v_left - v_rows;
    while v_kind is not null and v_left > 0 do
        select min(h.p_kind) into v_history from queue_history h where h.p_kind > v_kind;
        select min(d.p_kind) into v_dedup from queue_dedup d where d.p_kind > v_kind;
        select min(l.p_kind) into v_log from queue_log l where l.p_kind > v_kind;
        select min(o.p_kind) into v_kind from (select v_history as p_kind union all select v_dedup union all select v_log) o;
        if v_kind is not null then
            call _queue_prune_kind(v_kind, v_now, v_left, v_rows);
            set out_pruned = out_pruned + v_rows;
            set v_left = v_left - v_rows;
        end if;
    end while;
    call _queue_slot_sweep(v_now);
end $$
delimiter ;
