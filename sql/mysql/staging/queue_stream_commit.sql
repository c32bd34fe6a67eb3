-- calls: _queue_stream_commit
drop procedure if exists queue_stream_commit;
delimiter $$
create procedure queue_stream_commit(in in_stream text collate exact, in in_batch bigint,
    in in_options longtext character set utf8mb4)
    comment 'Ends a batch: it acknowledges what the parts of the batch were handed out. In the same transaction it
publishes what came of it and gives back what failed.
in_stream, in_batch: as in queue_stream_reserve.
in_options: what came of the batch.
- parts: what to publish, as in queue_stage_publish. Allowed: an array of {part, messages}. Default: none.
- failed: what to give back. Allowed: an array of {receipt, and options of queue_nack}. Default: none.
- whole: refuses the batch where any of its messages is no longer held for it; queue_stream_renew forgets those.
  Allowed: true, false. Default: false.
- keep: keeps what the batch had read, so that its replay reads it again, until queue_stream_forget or the end of the
  next batch. Allowed: true, false. Default: false.
- run: what runs the query. Allowed: a text. Default: none.
- job: the write that does the batch, so that a second write isn''t taken for a replay. Allowed: a text. Default: none.
- refused: as in queue_stage_publish. Allowed: 0 or more. Default: 0.
Result: outcome: committed, or replayed where it was committed before, and then nothing happens; acked, failed, lost:
how many messages; published: how many were staged; pushed, differing: how many of these, as in queue_stage_publish.
Errors: PQ001 for stream, batch and parts, PQ002 for options. PQ004 for whole, for parts that aren''t there, and where
another job of the same run has ended the batch. PQ005 for a receipt in failed, PQ003 for a payload there. For a
message that is published the error of a push, naming its key.
Locks: the row of the stream, then the messages, in the order of their entries, then as queue_stage_publish.
Where the idea comes from: a consumer''s offsets and a producer''s messages in one transaction, as Kafka has it.'
begin
    declare v_new boolean;
    declare v_acked, v_failed, v_lost, v_published, v_pushed, v_differing bigint;
    begin atomic
        call _queue_stream_commit(in_stream, in_batch, in_options, v_new, v_acked, v_failed, v_lost, v_published,
            v_pushed, v_differing);
    end atomic;
    select if(v_new, 'committed', 'replayed') as outcome, v_acked as acked, v_failed as failed, v_lost as lost,
        v_published as published, v_pushed as pushed, v_differing as differing;
end $$
delimiter ;
