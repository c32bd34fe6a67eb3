-- calls: _queue_check_name, _queue_stage_remove
create or replace function queue_stage_abort(in_job text, out removed bigint)
    language plpgsql security definer set search_path from current set enable_seqscan = off as $$
declare
    v_part bigint;
begin
    perform _queue_check_name(in_job, 200, 'job');
    removed := 0;
    for v_part in select p.part from queue_stage_part p where p.job = in_job order by p.part + 0 for update loop
        removed := removed + _queue_stage_remove(v_part, 9223372036854775807);
    end loop;
end $$;

comment on function queue_stage_abort(text) is
$$Removes what is staged under a job and not published.
in_job: what was given to queue_stage_begin.
Result: removed: how many messages.
Errors: PQ001 for job.
Locks: the parts, in their order.$$;
