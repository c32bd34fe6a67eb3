drop procedure if exists queue_stream_commit;
delimiter $$
create procedure queue_stream_commit(in in_stream text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_batch bigint, in in_options longtext character set utf8mb4)
    comment 'Ends a batch: acknowledges what its parts were handed out, and in the same transaction publishes what came of it and gives back what failed.
in_stream, in_batch: as in queue_stream_reserve. in_options: parts: as in queue_stage_publish; failed: a JSON array of
{receipt, and options of queue_nack}; whole: true refuses the batch where any of its messages is no longer held for it
(queue_stream_renew forgets those); keep: true keeps what the batch had read, so that its replay reads it again, until queue_stream_forget or
the end of the next batch; run and job: what runs the query, and the write that does the batch, so that a second write isn''t taken for a replay.
Result: outcome: committed, or replayed where it was committed before, and then nothing happens; acked, failed, lost: how many messages;
published: how many were staged.
Errors: PQ001 for stream, batch and parts, PQ002 for options, PQ004 for whole, for parts that aren''t there, and where another job of the same run has ended the batch, PQ005 for a receipt in failed,
PQ003 for a payload there; for a message that is published the error of a push, naming its key.
Locks: the row of the stream, then the messages, in the order of their entries, then as queue_stage_publish.
Where the idea comes from: a consumer''s offsets and a producer''s messages in one transaction, as Kafka has it.'
begin
    declare v_own boolean;
    declare v_tries int default 0;
    declare v_new boolean;
    declare v_acked, v_failed, v_lost, v_published bigint;
    again: loop
        begin
            declare exit handler for 1213, 1020 call _queue_again(v_own, v_tries);
            declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
            call _queue_begin(v_own);
            call _queue_stream_commit(in_stream, in_batch, in_options, v_new, v_acked, v_failed, v_lost, v_published);
            call _queue_commit(v_own);
            leave again;
        end;
    end loop;
    select if(v_new, 'committed', 'replayed') as outcome, v_acked as acked, v_failed as failed, v_lost as lost,
        v_published as published;
end $$
delimiter ;
