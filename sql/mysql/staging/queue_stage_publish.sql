-- calls: _queue_batch_done, _queue_check_batch, _queue_check_options, _queue_integer, _queue_stage_note,
--     _queue_stage_put, _queue_text, queue_now
create procedure queue_stage_publish(in in_parts longtext, in in_options longtext)
    comment 'Pushes what is staged, all of it or, with an error, nothing, and takes it out of the stage. A key that is
taken is ignored.
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
Errors: PQ001 for parts, query and batch, PQ002 for options. PQ004 where a part isn''t there (published before,
aborted, past its day, lost in a crash of the server, staged after the snapshot of a transaction) or has not so many
messages. PQ004, too, where another job of the same run has done the batch. For a message the error of a push, naming
its key.
Locks: the row of the query and the parts, in their order; else as queue_push_many.
Where the idea comes from: the transactional sinks of Spark and Flink.
differs: messages of one time are delivered in the order of their keys.'
begin
    declare v_now, v_batch, v_messages, v_pushed, v_differing bigint;
    declare v_query, v_run, v_job text collate exact;
    declare v_rest longtext;
    declare v_new boolean default true;
    begin atomic
        call queue_now(v_now);
        call _queue_check_options(in_options, 'query,batch,run,job,refused', 'options');
        call _queue_text(in_options, 'query', v_query);
        call _queue_integer(in_options, 'batch', 0, 9223372036854775807, v_batch);
        if v_query is not null or v_batch is not null then
            call _queue_check_batch('query', v_query, v_batch);
            call _queue_text(in_options, 'run', v_run);
            call _queue_text(in_options, 'job', v_job);
            call _queue_batch_done(v_query, v_batch, v_now, v_run, v_job, v_new);
        end if;
        set v_messages = 0, v_pushed = 0, v_differing = 0;
        if v_new then
            call _queue_stage_put(in_parts, null, v_now, v_messages, v_pushed, v_differing, v_rest);
            call _queue_stage_note(v_query, v_batch, in_options, v_now, v_messages, v_pushed, v_differing);
        end if;
    end atomic;
    select if(v_new, 'published', 'replayed') as outcome, v_messages as messages, v_pushed as pushed,
        v_differing as differing;
end;
