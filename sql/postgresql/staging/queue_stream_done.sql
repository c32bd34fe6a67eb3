-- calls: _queue_check_batch
create or replace function queue_stream_done(in_stream text, in_batch bigint, out done boolean)
    language plpgsql
    security definer set search_path from current as $$
begin
    perform _queue_check_batch('stream', in_stream, in_batch);
    done := exists (select from queue_stage_done d where d.query = in_stream and d.batch >= in_batch);
end $$;

comment on function queue_stream_done(text, bigint) is
$$Whether a batch is committed already: what a reader asks that is to write its result somewhere else, after it has read
the batch and before it writes. A batch that is replayed after its end has no messages any more, and nothing is to be
written for it.
in_stream, in_batch: as in queue_stream_reserve.
Result: done: true or false.
Errors: PQ001 for stream and batch.
Locks: none.$$;
