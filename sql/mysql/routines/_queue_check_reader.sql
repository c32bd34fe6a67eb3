drop procedure if exists _queue_check_reader;
delimiter $$
create procedure _queue_check_reader(in in_reader text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)
    comment 'Refuses what can''t be the name of a reader.
in_reader: it, 1 to 200 characters.
Errors: PQ001.'
begin
    if in_reader is null or char_length(in_reader) not between 1 and 200 then
        call _queue_fail('PQ001', 'reader', in_reader, 'must have 1 to 200 characters');
    end if;
end $$
delimiter ;
