-- calls: _queue_fail
-- changes: queue_stage_done
create or replace function _queue_batch_done(in_query text, in_batch bigint, in_now bigint, in_run text, in_job text)
    returns boolean language plpgsql as $$
begin
    insert into queue_stage_done as d (query, batch, run, job, done_at)
        values (in_query, in_batch, in_run, in_job, in_now)
    on conflict on constraint queue_stage_done_pkey do update
    set batch = excluded.batch, run = excluded.run, job = excluded.job, done_at = excluded.done_at
    where d.batch < excluded.batch;
    if found then
        return true;
    end if;
    if exists (
        select from queue_stage_done d
        where d.query = in_query and d.batch = in_batch and d.run = in_run and d.job <> in_job) then
        perform _queue_fail('PQ004', 'batch', in_batch::text,
            'must be ended by one write: another one of this run has ended it');
    end if;
    return false;
end $$;

comment on function _queue_batch_done(text, bigint, bigint, text, text) is
$$Notes that a batch of a query is done, in the transaction that does it.
in_query: the query. in_batch: its number; they only go up. in_now: the time of the call. in_run, in_job: what runs the
query, and the write that does the batch; NULL where nobody says.
Result: whether it wasn't done before.
Errors: PQ004 where another write of the same run has done it: that is no replay, and what this one has would be lost.
Locks: the row of the query, so that of two who do the same batch the second waits and finds it done.$$;
