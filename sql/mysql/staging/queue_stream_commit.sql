-- calls: _queue_ack_many, _queue_batch_done, _queue_boolean, _queue_check_batch, _queue_check_options, _queue_fail,
--     _queue_lock, _queue_stage_note, _queue_stage_put, _queue_stream_fail, _queue_stream_held, _queue_text,
--     queue_now
-- changes: queue_stream_kept, queue_stream_part, queue_stream_plan
create procedure queue_stream_commit(in in_stream text collate exact, in in_batch bigint, in in_options longtext)
    comment 'Ends a batch: it acknowledges what the parts of the batch were handed out. In the same transaction it
publishes what came of it and gives back what failed. What is published under the kind and key of a message of the batch
is put in once that message has ended, as a new message; where it doesn''t end, but goes back for another try, its key
is taken.
in_stream, in_batch: as in queue_stream_reserve.
in_options: what came of the batch.
- parts: what to publish, as in queue_stage_publish. Allowed: an array of {part, messages}. Default: none.
- failed: what of the batch to give back. Allowed: an array of {receipt, and options of queue_nack}. Default: none.
- whole: refuses the batch where any of its messages is no longer held for it; queue_stream_renew forgets those.
  Allowed: true, false. Default: false.
- keep: keeps what the batch had read, so that its replay reads it again, until queue_stream_forget or the end of the
  next batch. Allowed: true, false. Default: false.
- run: what runs the query. Allowed: a text. Default: none.
- job: the write that does the batch, so that a second write isn''t taken for a replay. Allowed: a text. Default: none.
- refused: as in queue_stage_publish. Allowed: 0 or more. Default: 0.
Result: outcome: committed, or replayed where it was committed before, and then nothing happens; acked, failed, lost:
how many messages, where acked counts those too that went on along their route; published: how many were staged; pushed,
differing: how many of these, as in queue_stage_publish.
Errors: PQ001 for stream, batch and parts, PQ002 for options. PQ004 for whole, for parts that aren''t there, and where
another job of the same run has ended the batch. PQ005 for what is no receipt in failed, and for one that is held, but
not for the batch; PQ003 for a payload there. For a message that is published the error of a push, naming its key.
Locks: the row of the stream, then the messages, in the order of their entries, then as queue_stage_publish.
Where the idea comes from: a consumer''s offsets and a producer''s messages in one transaction, as Kafka has it.'
begin
    declare v_new boolean;
    declare v_acked, v_failed, v_lost, v_published, v_pushed, v_differing bigint;
    begin atomic
        declare v_now bigint;
        declare v_whole, v_keep boolean default false;
        declare v_number int;
        declare v_list, v_receipts, v_rest longtext;
        declare v_count, v_more, v_others bigint;
        declare v_run, v_job text collate exact;
        declare v_outcomes longtext character set ascii;
        declare c cursor for
            select p.receipts from queue_stream_part p where p.stream = in_stream and p.batch = in_batch
                order by p.source, p.part for update;
        set v_new = null, v_acked = null, v_failed = null, v_lost = null, v_published = null, v_pushed = null,
            v_differing = null;
        call _queue_check_batch('stream', in_stream, in_batch);
        call _queue_check_options(in_options, 'parts,failed,whole,keep,run,job,refused', 'options');
        call _queue_boolean(in_options, 'whole', v_whole);
        call _queue_boolean(in_options, 'keep', v_keep);
        call queue_now(v_now);
        call _queue_text(in_options, 'run', v_run);
        call _queue_text(in_options, 'job', v_job);
        call _queue_batch_done(in_stream, in_batch, v_now, v_run, v_job, v_new);
        set v_acked = 0, v_failed = 0, v_lost = 0, v_published = 0, v_pushed = 0, v_differing = 0;
        if v_new then
            call _queue_stream_held(null, in_stream, in_batch, v_list, v_number);
            call _queue_lock(v_list);
            if v_keep then
                -- a read of the same name was done before
                delete k from queue_stream_part p straight_join queue_stream_kept k on k.source = p.source
                where p.stream = in_stream and p.batch = in_batch;
                insert into queue_stream_kept
                select p.source, p.part, r.place, in_stream, in_batch, v_now, q.p_kind, q.p_key, q.payload,
                    q.payload_bytes, q.headers, q.priority, q.scheduled_at, q.scheduled_at_initially, q.created_at,
                    q.reserved_at, q.attempts, q.reserved_by, r.receipt, q.errors
                from queue_stream_part p
                    straight_join unnest(p.receipts) r (place for ordinality, receipt varchar(60))
                    straight_join delayed_queue q force index (primary)
                        on q.entry = cast(left(r.receipt, char_length(r.receipt) - 33) as signed)
                            and q.secret = unhex(right(r.receipt, 32))
                where p.stream = in_stream and p.batch = in_batch;
            end if;
            delete k from queue_stream_kept k where k.stream = in_stream and k.batch + 0 < in_batch;
            if in_options ? 'parts' then
                call _queue_stage_put(in_options -> 'parts', v_list, v_now, v_published, v_pushed, v_differing, v_rest);
            end if;
            if in_options ? 'failed' then
                call _queue_stream_fail(in_options -> 'failed', in_stream, in_batch, v_now, v_failed);
            end if;
            for each c into v_receipts do
                call _queue_ack_many(coalesce(v_receipts, '[]'), null, v_outcomes);
                set v_acked = v_acked + char_length(replace(v_outcomes, 'l', ''));
            end each;
            set v_lost = v_number - v_acked - v_failed;
            if v_whole and v_lost > 0 then
                call _queue_fail('PQ004', 'batch', in_batch,
                    concat(v_lost, ' of its messages are no longer held for it'));
            end if;
            if v_rest is not null then -- what has the keys of messages that were there until now
                call _queue_stage_put(v_rest, null, v_now, v_count, v_more, v_others, v_rest);
                set v_pushed = v_pushed + v_more, v_differing = v_differing + v_others;
            end if;
            if in_options ? 'parts' then
                call _queue_stage_note(in_stream, in_batch, in_options, v_now, v_published, v_pushed, v_differing);
            end if;
            delete l from queue_stream_part p straight_join queue_stream_plan l on l.source = p.source
            where p.stream = in_stream and p.batch + 0 <= in_batch;
            delete p from queue_stream_part p where p.stream = in_stream and p.batch + 0 <= in_batch;
        end if;
    end atomic;
    select if(v_new, 'committed', 'replayed') as outcome, v_acked as acked, v_failed as failed, v_lost as lost,
        v_published as published, v_pushed as pushed, v_differing as differing;
end;
