create or replace function queue_stage_begin(in_job text, out part bigint)
    language plpgsql
    security definer set search_path from current as $$
declare
    v_now constant bigint := queue_now();
begin
    if char_length(in_job) between 1 and 200 is not true then
        perform _queue_fail('PQ001', 'job', in_job, 'must have 1 to 200 characters');
    end if;
    perform _queue_stage_prune(v_now, 1000);
    insert into queue_stage_part as p (job, begun_at) values (in_job, v_now) returning p.part into queue_stage_begin.part;
end $$;

comment on function queue_stage_begin(text) is
$$Begins to stage messages: rows of queue_stage that are no messages until queue_stage_publish makes them such, all at once. Insert
them in the same transaction; who fails before its end leaves nothing. What was staged and not published goes after a day.
in_job: what the part belongs to, 1 to 200 characters: queue_stage_abort removes all parts of it.
Result: part, the number to put into queue_stage.part.
Errors: PQ001 for job.
Locks: none.
Where the idea comes from: the staging tables of bulk loaders; writers that stage under a job and commit once.$$;
