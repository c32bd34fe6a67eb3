-- calls: _queue_check_kind
-- changes: queue_stream_kept
create procedure queue_stream_forget(in in_source text collate exact)
    comment 'Forgets what queue_stream_commit has kept of a read: whoever reads has noted himself that the batch is
done, and will not ask for it again.
in_source: the read, as in queue_stream_plan, 1 to 230 characters.
Result: forgotten: how many messages.
Errors: PQ001 for source.
Locks: the rows.'
begin
    declare v_forgotten bigint;
    begin atomic
        call _queue_check_kind(in_source, 230, 'source');
        delete k from queue_stream_kept k where k.source = in_source;
        set v_forgotten = row_count();
    end atomic;
    select v_forgotten as forgotten;
end;
