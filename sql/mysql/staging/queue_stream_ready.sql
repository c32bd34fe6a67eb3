-- calls: _queue_check_kind, _queue_check_roles, queue_now
create procedure queue_stream_ready(in in_kind text collate exact)
    comment 'Whether a reserve would find something: what a reader of batches asks before it plans one.
in_kind: the kind.
Result: ready: false where nothing is ready or the kind is paused.
Errors: PQ007 for a kind that is for others. PQ001 for kind.
Locks: none.
differs: true also while something waits in queue_inbox to be taken in, of whatever kind.'
begin
    declare v_now bigint;
    call queue_now(v_now);
    call _queue_check_kind(in_kind, 100, 'kind');
    call _queue_check_roles(json_array(in_kind));
    select not exists (select 1 from queue_kind k where k.p_kind = in_kind and k.paused)
        and (exists (select 1 from delayed_queue q force index (delayed_queue_ready)
                where q.ready_kind = in_kind and q.scheduled_at <= v_now)
            or exists (select 1 from delayed_queue d force index (delayed_queue_due)
                where d.p_kind = in_kind and d.due_at between 0 and v_now)
            or exists (select 1 from queue_inbox i where not i.taken)) as ready;
end;
