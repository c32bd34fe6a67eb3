drop procedure if exists _queue_check_worker;
delimiter $$
create procedure _queue_check_worker(in in_worker text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)
    comment 'Refuses what can''t be the name of a worker.
in_worker: the name.
Errors: PQ001.'
begin
    if in_worker is null or in_worker = '' or char_length(in_worker) > 200 then
        call _queue_fail('PQ001', 'worker', in_worker, 'must have 1 to 200 characters');
    elseif locate(char(0), in_worker) > 0 then
        call _queue_fail('PQ001', 'worker', in_worker, 'must not contain the character NUL');
    elseif length(in_worker) > char_length(in_worker) and hex(in_worker) regexp '^(..)*ED[AB]' then -- MariaDB takes surrogates for characters
        call _queue_fail('PQ001', 'worker', null, 'must be text in UTF-8');
    end if;
end $$
delimiter ;
