drop procedure if exists _queue_wait_lock;
delimiter $$
create procedure _queue_wait_lock(in in_kinds longtext character set utf8mb4, out out_lock varchar(64) character set utf8mb4)
    comment 'The name of the lock that the one has who looks for all that wait for the same kinds.
in_kinds: a JSON array of kinds. out_lock: the name, the same for every order of the kinds.
differs: PostgreSQL has no need of it.'
begin
    declare v_kinds longtext character set utf8mb4;
    /*M!100600 set statement group_concat_max_len = 1000000000 for */
    select json_arrayagg(k.kind) into v_kinds
    from (
        select distinct j.kind
        from json_table(in_kinds, '$[*]' columns (kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$')) j
        order by j.kind limit 100) k;
    set out_lock = concat('pyqueue.wait.', left(sha2(concat(database(), '.', v_kinds), 256), 40));
end $$
delimiter ;
