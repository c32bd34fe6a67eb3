create or replace function _queue_batch_done(in_query text, in_batch bigint, in_now bigint) returns boolean language plpgsql as $$
begin
    insert into queue_stage_done as d (query, batch, done_at) values (in_query, in_batch, in_now)
    on conflict on constraint queue_stage_done_pkey do update set batch = excluded.batch, done_at = excluded.done_at
    where d.batch < excluded.batch;
    return found;
end $$;

comment on function _queue_batch_done(text, bigint, bigint) is
$$Notes that a batch of a query is done, in the transaction that does it.
in_query: the query. in_batch: its number; they only go up. in_now: the time of the call.
Result: whether it wasn't done before.
Locks: the row of the query, so that of two who do the same batch the second waits and finds it done.$$;
