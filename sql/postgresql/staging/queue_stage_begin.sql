-- calls: _queue_check_name, _queue_check_options, _queue_integer, _queue_stage_prune, _queue_stage_remove,
--     _queue_text, queue_now
-- changes: queue_stage_part
create or replace function queue_stage_begin(in_job text, in_options jsonb default null, out part bigint)
    language plpgsql security definer set search_path from current set enable_seqscan = off as $$
declare
    v_now constant bigint := queue_now();
    v_query text;
    v_batch bigint;
    v_run text;
begin
    perform _queue_check_name(in_job, 200, 'job');
    perform _queue_check_options(in_options, '{query, batch, run}'::text[], 'options');
    v_query := _queue_text(in_options, 'query');
    v_batch := _queue_integer(in_options, 'batch', 0::bigint, 9223372036854775807);
    v_run := _queue_text(in_options, 'run');
    perform _queue_stage_prune(v_now, 1000::bigint);
    perform _queue_stage_remove(o.part, 9223372036854775807) -- nobody can publish it any more
    from (
        select p.part from queue_stage_part p
        where p.part = any (array( -- not OR: there are two such indexes; and in the order of that by runs
            (select n.part from queue_stage_part n where n.query = v_query and n.run < v_run order by n.query, n.run)
            union all
            (select n.part from queue_stage_part n where n.query = v_query and n.run > v_run order by n.query, n.run)))
        order by p.part + 0 for update skip locked) o; -- + 0: ADR 13
    -- The time first: who writes unlogged tables alone doesn't wait for the disk, and a crash may set a sequence back.
    -- A writer that lives on would publish what another has staged since under its number.
    part := v_now << 11 & 9223372036854775807 | nextval('queue_stage_part_part_seq'::regclass);
    insert into queue_stage_part (part, job, query, batch, run, begun_at)
    values (part, in_job, v_query, v_batch, v_run, v_now);
end $$;

comment on function queue_stage_begin(text, jsonb) is
$$Begins to stage messages. Staged rows of queue_stage are no messages until queue_stage_publish makes all of them
messages at once. Insert them in the same transaction; a transaction that fails leaves nothing. What was staged and
not published goes after a day.
in_job: what the part belongs to, 1 to 200 characters: queue_stage_abort removes all parts of it.
in_options: what it is for, as in queue_stage_publish. What an earlier run of the query has staged goes at once, and
what was staged for a batch that is done goes with queue_prune.
- query: the query that writes. Allowed: a text. Default: none.
- batch: the number of its batch. Allowed: 0 or more. Default: none.
- run: the run of the query. Allowed: a text. Default: none.
Result: part, the number to put into queue_stage.part.
Errors: PQ001 for job, PQ002 for options.
Locks: the parts of earlier runs; what others have locked is left.
Where the idea comes from: the staging tables of bulk loaders; writers that stage under a job and commit once.$$;
