-- calls: _queue_check_batch, _queue_stream_trim
create or replace function queue_stream_renew(in_stream text, in_batch bigint, out lost bigint)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan as $$
begin
    perform _queue_check_batch('stream', in_stream, in_batch);
    lost := _queue_stream_trim(null, in_stream, in_batch);
end $$;

comment on function queue_stream_renew(text, bigint) is
$$Forgets what a batch has lost, after queue_stream_commit has refused it for that: who then reads it again gets, and
ends, the rest. Whatever was made of the batch before is to be thrown away.
in_stream, in_batch: as in queue_stream_reserve.
Result: lost: how many messages.
Errors: PQ001 for stream and batch.
Locks: the parts in which something was lost.$$;
