drop procedure if exists _queue_lock_keys;
delimiter $$
create procedure _queue_lock_keys(in in_kind text collate exact, in in_messages longtext character set utf8mb4,
    out out_last bigint)
    comment 'Locks the messages whose keys are taken, before a batch changes any of them: rows are locked in the order
of their entries everywhere.
in_kind, in_messages: those of queue_push_many. out_last: the last entry, 0 where none is there.
Locks: those messages.
differs: a part of PostgreSQL''s queue_push_many.'
begin
    declare v_entry, v_locked bigint;
    declare v_done boolean default false;
    declare c cursor for
        select distinct q.entry from json_table(in_messages, '$[*]'
            columns (p_key varchar(200) collate exact path '$.key')) r
            straight_join delayed_queue q force index (delayed_queue_key) on q.p_kind = in_kind and q.p_key = r.p_key
        order by q.entry;
    set out_last = 0;
    open c;
    entries: loop
        begin
            declare continue handler for not found set v_done = true;
            fetch c into v_entry;
        end;
        if v_done then
            leave entries;
        end if;
        select max(q.entry) into v_locked from delayed_queue q where q.entry = v_entry for update;
        set out_last = v_entry;
    end loop;
    close c;
end $$
delimiter ;
