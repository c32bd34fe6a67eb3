-- calls: _queue_join_line
drop procedure if exists _queue_join_line_batch;
delimiter $$
create procedure _queue_join_line_batch(in in_kind text collate exact, in in_messages longtext character set utf8mb4,
    in in_outcomes longtext character set ascii, in in_made longtext character set ascii)
    comment 'The messages of a batch take their places in the lines of their order keys, line by line, so that batches
that overlap don''t deadlock.
in_kind, in_messages: those of queue_push_many. in_outcomes (NULL: nothing stands in a line), in_made: see
_queue_push_each; what was created has its order key already.
Locks: the lines, in their order, until the transaction ends.
differs: on PostgreSQL _queue_join_line does that.'
begin
    declare v_key, v_order varchar(200) collate exact;
    declare v_done boolean default false;
    declare c cursor for
        select s.p_key, s.order_key
        from (
            select q.p_key, q.order_key, q.entry
            from json_table(in_messages, '$[*]'
                columns (place for ordinality, p_key varchar(200) collate exact path '$.key')) r
                straight_join delayed_queue q force index (delayed_queue_key) on q.p_kind = in_kind
                    and q.p_key = coalesce(r.p_key,
                        convert(substr(in_made, 36 * r.place - 35, 36) using utf8mb4) collate exact)
            where substr(in_outcomes, r.place, 1) = 'c' and q.order_key is not null limit 1000000000) s
        order by s.order_key, s.entry;
    declare continue handler for not found set v_done = true;
    if in_outcomes is not null then
        open c;
        messages: loop
            fetch c into v_key, v_order;
            if v_done then
                leave messages;
            end if;
            call _queue_join_line(in_kind, v_key, v_order);
        end loop;
        close c;
    end if;
end $$
delimiter ;
