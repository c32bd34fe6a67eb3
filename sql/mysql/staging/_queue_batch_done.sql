-- calls: _queue_fail
-- changes: queue_stage_done
create procedure _queue_batch_done(in in_query text collate exact, in in_batch bigint, in in_now bigint,
    in in_run text collate exact, in in_job text collate exact, out out_new boolean)
    comment 'Notes that a batch of a query is done, in the transaction that does it.
in_query: the query. in_batch: its number; they only go up. in_now: the time of the call. in_run, in_job: what runs the
query, and the write that does the batch; NULL where nobody says.
Result: whether it wasn''t done before.
Errors: PQ004 where another write of the same run has done it: that is no replay, and what this one has would be lost.
Locks: the row of the query, so that of two who do the same batch the second waits and finds it done.
differs: the result is a parameter, out_new.'
begin
    declare v_batch bigint;
    declare v_run, v_job text collate exact;
    set in_run = left(in_run, 200), in_job = left(in_job, 200);
    insert into queue_stage_done (query, batch, done_at) values (in_query, -1, in_now)
    on duplicate key update query = queue_stage_done.query;
    select d.batch, d.run, d.job into v_batch, v_run, v_job from queue_stage_done d where d.query = in_query for update;
    set out_new = v_batch < in_batch;
    if out_new then
        update queue_stage_done d set d.batch = in_batch, d.run = in_run, d.job = in_job, d.done_at = in_now
        where d.query = in_query;
    elseif v_batch = in_batch and v_run = in_run and v_job <> in_job then
        call _queue_fail('PQ004', 'batch', in_batch,
            'must be ended by one write: another one of this run has ended it');
    end if;
end;
