-- calls: _queue_check_name, _queue_check_options, _queue_integer, _queue_stage_prune, _queue_stage_remove,
--     _queue_text, queue_now
-- changes: queue_stage_part
create procedure queue_stage_begin(in in_job text collate exact, in in_options longtext)
    comment 'Begins to stage messages. Staged rows of queue_stage are no messages until queue_stage_publish makes all of
them messages at once. Insert them in the same transaction; a transaction that fails leaves nothing. What was staged and
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
Where the idea comes from: the staging tables of bulk loaders; writers that stage under a job and commit once.'
begin
    declare v_now, v_batch, v_part, v_pruned, v_rows bigint;
    declare v_query, v_run text collate exact;
    begin atomic
        declare c cursor for -- nobody can publish them any more
            select p.part
            from (
                select n.part from queue_stage_part n force index (queue_stage_part_run)
                where n.query = v_query and n.run <> v_run limit 1000000000) j
                straight_join queue_stage_part p force index (primary) on p.part = j.part
            order by j.part for update of p skip locked;
        call queue_now(v_now);
        call _queue_check_name(in_job, 200, 'job');
        call _queue_check_options(in_options, 'query,batch,run', 'options');
        call _queue_text(in_options, 'query', v_query);
        call _queue_integer(in_options, 'batch', 0, 9223372036854775807, v_batch);
        call _queue_text(in_options, 'run', v_run);
        call _queue_stage_prune(v_now, 1000, v_pruned);
        for each c into v_part do
            call _queue_stage_remove(v_part, 9223372036854775807, v_rows);
        end each;
        set v_part = uuid_short() & 9223372036854775807;
        insert into queue_stage_part (part, job, query, batch, run, begun_at)
        values (v_part, in_job, v_query, v_batch, v_run, v_now);
    end atomic;
    select v_part as part;
end;
