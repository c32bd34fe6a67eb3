-- calls: _queue_batch_done, _queue_check_batch, _queue_check_options, _queue_integer, _queue_stage_note,
--     _queue_stage_put, _queue_text, queue_now
create or replace function queue_stage_publish(in_parts jsonb, in_options jsonb default null, out outcome text,
    out messages bigint, out pushed bigint, out differing bigint)
    language plpgsql
    security definer set search_path from current as $$
declare
    v_now constant bigint := queue_now();
    v_query text;
    v_batch bigint;
begin
    perform _queue_check_options(in_options, '{query, batch, run, job, refused}'::text[], 'options');
    v_query := _queue_text(in_options, 'query');
    v_batch := _queue_integer(in_options, 'batch', 0::bigint, 9223372036854775807);
    if v_query is not null or v_batch is not null then
        perform _queue_check_batch('query', v_query, v_batch);
        if not _queue_batch_done(v_query, v_batch, v_now, _queue_text(in_options, 'run'),
            _queue_text(in_options, 'job')) then
            select 'replayed', 0, 0, 0 into outcome, messages, pushed, differing;
            return;
        end if;
    end if;
    outcome := 'published';
    select p.messages, p.pushed, p.differing into messages, pushed, differing
        from _queue_stage_put(in_parts, null::bytea[]) p;
    perform _queue_stage_note(v_query, v_batch, in_options, v_now, messages, pushed, differing);
end $$;

comment on function queue_stage_publish(jsonb, jsonb) is
$$Pushes what is staged, all of it or, with an error, nothing, and takes it out of the stage. A key that is taken is
ignored.
in_parts: a JSON array of {part, messages}: each what queue_stage_begin returned, and how many messages were staged
under it.
in_options: what names this work, so that the same batch is published once.
- query: the query that writes. Allowed: 1 to 200 characters. Default: none.
- batch: the number of its batch, which only goes up. Allowed: 0 or more. Default: none.
- run: the run of the query, as in queue_stream_commit. Allowed: a text. Default: none.
- job: the write that does the batch, as in queue_stream_commit. Allowed: a text. Default: none.
- refused: how many rows the writer has made dead letters of, for the view queue_writes. Allowed: 0 or more. Default: 0.
Result: outcome: published, or replayed where the batch was published before, and then nothing happens; messages: how
many were published, those whose keys are taken among them; pushed: how many of these became messages; differing: how
many have another payload than the message that has their key. A write that names a query or a job stands in the view
queue_writes, too. On PostgreSQL, where parts is empty, it is about what the transaction has put into queue_inbox.
Errors: PQ001 for parts, query and batch, PQ002 for options. PQ004 where a part isn't there (published before,
aborted, past its day, lost in a crash of the server, staged after the snapshot of a transaction) or has not so many
messages. PQ004, too, where another job of the same run has done the batch. For a message the error of a push, naming
its key.
Locks: the row of the query and the parts, in their order; else as queue_push_many.
Where the idea comes from: the transactional sinks of Spark and Flink.$$;
