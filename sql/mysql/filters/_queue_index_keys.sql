-- calls: _queue_index
drop procedure if exists _queue_index_keys;
delimiter $$
create procedure _queue_index_keys(in in_kind text collate exact, in in_messages longtext character set utf8mb4,
    in in_outcomes longtext character set ascii, in in_made longtext character set ascii)
    comment 'Puts what a batch has pushed into the index of filters, see _queue_index.
in_kind: the kind. in_messages: the batch. in_outcomes, in_made: see _queue_push_each.
Locks: none but what it changes.
differs: PostgreSQL''s is given the keys.'
begin
    declare v_key text collate exact;
    declare v_done boolean default false;
    declare c cursor for
        select distinct if(j.p_key is null, convert(substr(in_made, 36 * j.place - 35, 36) using utf8mb4),
            j.p_key) as one
        from json_table(in_messages, '$[*]'
            columns (place for ordinality, p_key varchar(200) character set utf8mb4 path '$.key')) j
        where substr(in_outcomes, j.place, 1) in ('c', 'r') order by one;
    open c;
    messages: loop
        begin
            declare continue handler for not found set v_done = true;
            fetch c into v_key;
        end;
        if v_done then
            leave messages;
        end if;
        call _queue_index(null, in_kind, v_key);
    end loop;
    close c;
end $$
delimiter ;
