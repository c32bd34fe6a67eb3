-- calls: _queue_index
drop procedure if exists _queue_index_all;
delimiter $$
create procedure _queue_index_all(in in_entries longtext character set utf8mb4)
    comment 'Puts messages into the index of filters, see _queue_index.
in_entries: a JSON array of their entries.
differs: on PostgreSQL it is _queue_index.'
begin
    declare v_entry bigint;
    declare v_done boolean default false;
    declare c cursor for select j.entry from json_table(in_entries, '$[*]' columns (entry bigint path '$')) j
        order by j.entry;
    open c;
    messages: loop
        begin
            declare continue handler for not found set v_done = true;
            fetch c into v_entry;
        end;
        if v_done then
            leave messages;
        end if;
        call _queue_index(v_entry, null, null);
    end loop;
    close c;
end $$
delimiter ;
