-- calls: _queue_again, _queue_begin, _queue_check_batch, _queue_commit, _queue_stream_trim, _queue_undo
drop procedure if exists queue_stream_renew;
delimiter $$
create procedure queue_stream_renew(in in_stream text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_batch bigint)
    comment 'Forgets what a batch has lost, after queue_stream_commit has refused it for that: who then reads it again gets, and ends, the rest.
Whatever was made of the batch before is to be thrown away.
in_stream, in_batch: as in queue_stream_reserve.
Result: lost: how many messages.
Errors: PQ001 for stream and batch.
Locks: the parts in which something was lost.'
begin
    declare v_own boolean;
    declare v_tries int default 0;
    declare v_lost bigint;
    again: loop
        begin
            declare exit handler for 1213, 1020 call _queue_again(v_own, v_tries);
            declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
            call _queue_begin(v_own);
            call _queue_check_batch('stream', in_stream, in_batch);
            call _queue_stream_trim(null, in_stream, in_batch, v_lost);
            call _queue_commit(v_own);
            leave again;
        end;
    end loop;
    select v_lost as lost;
end $$
delimiter ;
