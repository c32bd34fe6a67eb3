-- calls: _queue_prune_log
-- changes: queue_dedup, queue_history
create procedure _queue_prune_kind(in in_kind text collate exact, in in_now bigint, in in_max int,
    out out_pruned bigint)
    comment 'Removes the history, the remembered keys and the log of a kind that are past their time, the oldest first.
What the kind doesn''t keep at all is past its time, whatever the clock says.
in_kind: the kind. in_now: the time of the call. in_max: how many at the most.
Result: how many.
Locks: the rows; what others have locked is left.
out_pruned: the result.'
begin
    declare v_history, v_dedup decimal(20,6) default 0;
    declare v_left int;
    declare v_since, v_logged bigint;
    declare continue handler for not found begin end;
    select k.history_seconds, k.dedup_seconds into v_history, v_dedup from queue_kind k where k.p_kind = in_kind;
    set v_since = if(v_history = 0, 9223372036854775807, in_now - v_history * 1000000), out_pruned = 0;
    delete h from queue_history h force index (primary)
    where h.p_kind = in_kind and h.finished_at <= v_since order by h.finished_at, h.entry limit in_max
    skip locked by (p_kind varchar(100) collate exact, finished_at bigint, entry bigint) into out_pruned;
    set v_since = if(v_dedup = 0, 9223372036854775807, in_now - v_dedup * 1000000), v_left = in_max - out_pruned;
    delete d from (
            select n.p_key from queue_dedup n force index (queue_dedup_ended)
            where n.p_kind = in_kind and n.ended_at <= v_since order by n.ended_at limit v_left) j
        straight_join queue_dedup d force index (primary) on d.p_kind = in_kind and d.p_key = j.p_key
    where d.ended_at <= v_since
    skip locked by (p_kind varchar(100) collate exact, p_key varchar(200) collate exact) into out_pruned;
    set v_left = greatest(in_max - out_pruned, 0);
    call _queue_prune_log(in_kind, in_now, v_left, v_logged);
    set out_pruned = out_pruned + v_logged;
end;
