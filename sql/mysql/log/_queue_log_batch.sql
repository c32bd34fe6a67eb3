-- calls: _queue_log_put
drop procedure if exists _queue_log_batch;
delimiter $$
create procedure _queue_log_batch(in in_kind text collate exact, in in_messages longtext character set utf8mb4,
    in in_options longtext character set utf8mb4, in in_outcomes longtext character set ascii,
    in in_made longtext character set ascii, in in_now bigint)
    comment 'Appends what a queue_push_many did to the log, in the order of the batch.
in_kind, in_messages, in_options: those of queue_push_many. in_outcomes, in_made: see _queue_push_each. in_now: the time
of the call.
Locks: as _queue_log_open.
differs: in_outcomes and in_made are texts.'
begin
    declare v_key text collate exact;
    declare v_outcome varchar(10) character set utf8mb4;
    declare v_on_duplicate varchar(20) character set utf8mb4;
    declare v_done boolean default false;
    declare c cursor for
        select coalesce(j.p_key, convert(substr(in_made, 36 * j.place - 35, 36) using utf8mb4)),
            if(substr(in_outcomes, j.place, 1) = 'c', 'created', 'replaced'),
            coalesce(j.on_duplicate, json_value(in_options, '$.on_duplicate'))
        from json_table(in_messages, '$[*]'
            columns (place for ordinality, p_key varchar(200) collate exact path '$.key',
                on_duplicate varchar(20) character set utf8mb4 path '$.on_duplicate')) j
        where substr(in_outcomes, j.place, 1) in ('c', 'r') order by j.place;
    open c;
    messages: loop
        begin
            declare continue handler for not found set v_done = true;
            fetch c into v_key, v_outcome, v_on_duplicate;
        end;
        if v_done then
            leave messages;
        end if;
        call _queue_log_put(in_kind, v_key, v_outcome, v_on_duplicate, in_now);
    end loop;
    close c;
end $$
delimiter ;
