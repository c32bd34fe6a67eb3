-- calls: _queue_check_batch
create procedure queue_stream_done(in in_stream text collate exact, in in_batch bigint)
    comment 'Whether a batch is committed already: what a reader asks that is to write its result somewhere else, after
it has read the batch and before it writes. A batch that is replayed after its end has no messages any more, and nothing
is to be written for it.
in_stream, in_batch: as in queue_stream_reserve.
Result: done: true or false.
Errors: PQ001 for stream and batch.
Locks: none.'
begin
    call _queue_check_batch('stream', in_stream, in_batch);
    select exists (select 1 from queue_stage_done d where d.query = in_stream and d.batch >= in_batch) as done;
end;
