create or replace function _queue_settings(in_kind text) returns queue_kind language plpgsql as $$
declare
    v_kind queue_kind;
begin
    select k.* into v_kind from queue_kind k where k.p_kind = in_kind;
    if not found then
        v_kind.p_kind := in_kind;
        v_kind.timeout_seconds := 300;
        v_kind.backoff_seconds := 0;
        v_kind.backoff_factor := 2;
        v_kind.backoff_max_seconds := 3600;
        v_kind.jitter := 0;
        v_kind.paused := false;
        v_kind.dedup_seconds := 0;
        v_kind.history_seconds := 0;
        v_kind.draining := false;
        v_kind.semaphores := false;
        v_kind.filter_index := false;
        v_kind.log_seconds := 0;
    end if;
    return v_kind;
end $$;

comment on function _queue_settings(text) is
$$The settings of a kind; one that nobody defined has the defaults, which are those of the table's columns.
in_kind: the kind.
Result: the row of queue_kind, made up where there is none.$$;
