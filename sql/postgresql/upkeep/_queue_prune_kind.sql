-- calls: _queue_prune_log, _queue_settings
-- changes: queue_dedup, queue_history
create or replace function _queue_prune_kind(in_kind text, in_now bigint, in_max bigint) returns bigint
    language plpgsql set enable_seqscan = off as $$
declare
    v_kind constant queue_kind := _queue_settings(in_kind);
    v_history_since constant bigint :=
        case when v_kind.history_seconds = 0 then 9223372036854775807
            else in_now - (v_kind.history_seconds * 1000000)::bigint end;
    v_dedup_since constant bigint :=
        case when v_kind.dedup_seconds = 0 then 9223372036854775807
            else in_now - (v_kind.dedup_seconds * 1000000)::bigint end;
    v_pruned bigint;
    v_rows bigint;
begin
    delete from queue_history h
    where h.ctid = any (array(
        select o.ctid from queue_history o
        where o.p_kind = in_kind and o.finished_at <= v_history_since
        order by o.p_kind, o.finished_at limit in_max for update skip locked));
    get diagnostics v_pruned = row_count;
    delete from queue_dedup d
    where d.ctid = any (array(
        select o.ctid from queue_dedup o
        where o.p_kind || '' = in_kind and o.ended_at <= v_dedup_since -- as queue_dedup_ended has it
        order by o.p_kind || '', o.ended_at limit in_max - v_pruned for update skip locked));
    get diagnostics v_rows = row_count;
    return v_pruned + v_rows + _queue_prune_log(in_kind, in_now, greatest(in_max - v_pruned - v_rows, 0));
end $$;

comment on function _queue_prune_kind(text, bigint, bigint) is
$$Removes the history, the remembered keys and the log of a kind that are past their time, the oldest first. What the
kind doesn't keep at all is past its time, whatever the clock says.
in_kind: the kind. in_now: the time of the call. in_max: how many at the most.
Result: how many.
Locks: the rows; what others have locked is left.$$;
