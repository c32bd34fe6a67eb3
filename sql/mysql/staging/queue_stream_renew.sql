-- calls: _queue_check_batch, _queue_stream_trim
create procedure queue_stream_renew(in in_stream text collate exact, in in_batch bigint)
    comment 'Forgets what a batch has lost, after queue_stream_commit has refused it for that: who then reads it again
gets, and ends, the rest. Whatever was made of the batch before is to be thrown away.
in_stream, in_batch: as in queue_stream_reserve.
Result: lost: how many messages.
Errors: PQ001 for stream and batch.
Locks: the parts in which something was lost.'
begin
    declare v_lost bigint;
    begin atomic
        call _queue_check_batch('stream', in_stream, in_batch);
        call _queue_stream_trim(null, in_stream, in_batch, v_lost);
    end atomic;
    select v_lost as lost;
end;
