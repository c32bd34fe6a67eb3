-- calls: _queue_again, _queue_begin, _queue_commit, _queue_fail, _queue_push, _queue_undo
drop procedure if exists queue_push_bytes;
delimiter $$
create procedure queue_push_bytes(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_key text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_payload_bytes longblob, in in_options longtext character set utf8mb4)
    comment 'Puts one message with a binary payload into a kind; it comes back byte for byte.
in_payload_bytes: the payload. The other parameters, the result, the errors and the locks are those of queue_push.'
begin
    declare v_own boolean;
    declare v_tries int default 0;
    declare v_key text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_scheduled_at bigint;
    declare v_outcome varchar(10) character set utf8mb4;
    again: loop
        begin
            declare exit handler for 1213, 1020 call _queue_again(v_own, v_tries);
            declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
            call _queue_begin(v_own);
            if in_payload_bytes is null then
                call _queue_fail('PQ003', 'payload_bytes', null, 'must be bytes (none at all, '''', is fine)');
            end if;
            call _queue_push(in_kind, in_key, null, in_payload_bytes, in_options, v_key, v_scheduled_at, v_outcome);
            call _queue_commit(v_own);
            leave again;
        end;
    end loop;
    select in_kind as p_kind, v_key as p_key, v_scheduled_at as scheduled_at, v_outcome as outcome;
end $$
delimiter ;
