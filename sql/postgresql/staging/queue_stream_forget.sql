-- calls: _queue_check_kind
-- changes: queue_stream_kept
create or replace function queue_stream_forget(in_source text, out forgotten bigint)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off as $$
begin
    perform _queue_check_kind(in_source, 230, 'source');
    delete from queue_stream_kept k where k.source = in_source;
    get diagnostics forgotten = row_count;
end $$;

comment on function queue_stream_forget(text) is
$$Forgets what queue_stream_commit has kept of a read: whoever reads has noted himself that the batch is done, and will
not ask for it again.
in_source: the read, as in queue_stream_plan, 1 to 230 characters.
Result: forgotten: how many messages.
Errors: PQ001 for source.
Locks: the rows.$$;
