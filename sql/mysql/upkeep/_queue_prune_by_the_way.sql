-- calls: _queue_prune_kind, _queue_ticks
create procedure _queue_prune_by_the_way(in in_kind text collate exact, in in_now bigint, in in_max int)
    comment 'A little of what queue_prune does, for one kind, from within queue_reserve and queue_pop. Where that is
slow, because a snapshot keeps the dead rows before the living ones, the session leaves it for 50 times as long as it
took: 2% of the time at most.
in_kind: the kind. in_now: the time of the call. in_max: how many rows at the most.'
begin
    declare v_start, v_took, v_pruned bigint;
    call _queue_ticks(v_start);
    if @pyqueue_prune is null or v_start >= @pyqueue_prune or @pyqueue_prune > v_start + 3600000000 then
        call _queue_prune_kind(in_kind, in_now, in_max, v_pruned);
        call _queue_ticks(v_took);
        set v_took = v_took - v_start;
        if v_took > 10000 + 50 * in_max then
            set @pyqueue_prune = v_start + 50 * v_took;
        end if;
    end if;
end;
