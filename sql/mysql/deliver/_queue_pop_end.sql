-- calls: _queue_advance_each, _queue_end, _queue_upkeep
-- changes: delayed_queue, queue_count
drop procedure if exists _queue_pop_end;
delimiter $$
create procedure _queue_pop_end(in in_kind text collate exact, in in_entries longtext character set utf8mb4,
    in in_now bigint)
    comment 'The second half of queue_pop: removes what was taken, and tidies up a little.
in_kind: the kind. in_entries: a JSON array of the entries, locked already. in_now: the time of the call.
differs: on PostgreSQL a pop removes and answers in one statement.'
begin
    declare v_entry bigint;
    declare v_lines longtext character set utf8mb4;
    declare v_keeps, v_done boolean default false;
    declare c cursor for
        select j.entry from json_table(in_entries, '$[*]' columns (entry bigint path '$')) j order by j.entry;
    declare continue handler for not found begin end;
    select k.history_seconds > 0 or k.dedup_seconds > 0 or k.semaphores or k.log_seconds > 0 into v_keeps
        from queue_kind k where k.p_kind = in_kind;
    if not v_keeps then
        insert into queue_count (id, p_kind, pushed, reserved, popped)
        select uuid_short(), q.p_kind, sum(q.source_kind is null), sum(q.deliveries), count(*)
        from json_table(in_entries, '$[*]' columns (entry bigint path '$')) j
            straight_join delayed_queue q force index (primary) on q.entry = j.entry
        group by q.p_kind;
        /*M!100600 set statement sql_safe_updates = 0 for */
        delete q from json_table(in_entries, '$[*]' columns (entry bigint path '$')) j
            straight_join delayed_queue q force index (primary) on q.entry = j.entry and q.order_key is null;
        if row_count() < json_length(in_entries) then -- the others stand in lines
            /*M!100600 set statement group_concat_max_len = 1000000000 for */
            select json_arrayagg(json_array(q.p_kind, q.order_key, q.entry)) into v_lines
            from json_table(in_entries, '$[*]' columns (entry bigint path '$')) j
                straight_join delayed_queue q force index (primary) on q.entry = j.entry;
            /*M!100600 set statement sql_safe_updates = 0 for */
            delete q from json_table(in_entries, '$[*]' columns (entry bigint path '$')) j
                straight_join delayed_queue q force index (primary) on q.entry = j.entry;
            call _queue_advance_each(v_lines, in_now);
        end if;
    else
        open c;
        messages: loop
            begin
                declare continue handler for not found set v_done = true;
                fetch c into v_entry;
            end;
            if v_done then
                leave messages;
            end if;
            call _queue_end(v_entry, 'popped', null, in_now);
        end loop;
        close c;
    end if;
    if rand() < 0.05 then
        call _queue_upkeep(in_kind, v_keeps, in_now, 40 * greatest(json_length(in_entries), 1));
    end if;
end $$
delimiter ;
