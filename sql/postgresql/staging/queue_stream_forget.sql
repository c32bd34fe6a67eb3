-- calls: _queue_check_name
-- changes: queue_stream_kept, queue_stream_part, queue_stream_plan
create or replace function queue_stream_forget(in_source text, out forgotten bigint)
    language plpgsql
    security definer set search_path from current set plan_cache_mode = force_generic_plan
    set enable_seqscan = off as $$
begin
    perform _queue_check_name(in_source, 230, 'source');
    delete from queue_stream_kept k where k.source = in_source;
    get diagnostics forgotten = row_count;
    delete from queue_stream_part p where p.source = in_source;
    delete from queue_stream_plan l where l.source = in_source;
end $$;

comment on function queue_stream_forget(text) is
$$Forgets a read: what it was handed out, and what queue_stream_commit has kept of it. For whoever reads, and has noted
himself that the batch is done, or has given back what he held: he will not ask for it again. What is held stays held.
in_source: the read, as in queue_stream_plan, 1 to 230 characters.
Result: forgotten: how many messages were kept.
Errors: PQ001 for source.
Locks: the rows.$$;
