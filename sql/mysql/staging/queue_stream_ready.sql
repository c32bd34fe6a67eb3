-- calls: _queue_check_kind, _queue_check_roles, _queue_limited_until, queue_now
create procedure queue_stream_ready(in in_kind text collate exact)
    comment 'Whether a reserve would find something: what a reader of batches asks before it plans one.
in_kind: the kind.
Result: ready: false where nothing is ready, or the kind is paused or at its limits.
Errors: PQ007 for a kind that is for others. PQ001 for kind.
Locks: none.
differs: true also while something waits in queue_inbox to be taken in, of whatever kind.'
begin
    declare v_now, v_until bigint;
    declare v_limit int;
    declare v_rate decimal(30,6);
    declare v_paused boolean;
    call queue_now(v_now);
    call _queue_check_kind(in_kind, 100, 'kind');
    call _queue_check_roles(json_array(in_kind));
    select max(k.paused), max(k.max_reserved), max(k.rate_per_second) into v_paused, v_limit, v_rate
    from queue_kind k where k.p_kind = in_kind;
    call _queue_limited_until(in_kind, v_limit, v_rate, v_now, v_until);
    select v_paused is not true and v_until is null
        and (exists (select 1 from delayed_queue q force index (delayed_queue_ready)
                where q.ready_kind = in_kind and q.scheduled_at <= v_now)
            or exists (select 1 from delayed_queue d force index (delayed_queue_due)
                where d.p_kind = in_kind and d.due_at between 0 and v_now)
            or exists (select 1 from queue_inbox i where not i.taken)) as ready;
end;
