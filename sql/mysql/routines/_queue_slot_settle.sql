drop procedure if exists _queue_slot_settle;
delimiter $$
create procedure _queue_slot_settle(in in_entries longtext character set utf8mb4, in in_names longtext character set utf8mb4, in in_wait boolean, in in_now bigint)
    comment 'Frees the slots of messages that are held or ready no more, and wakes who is next: the end of each call that ends holds, or puts in
what waits. After it a call puts in no key and waits for no message.
in_entries: these messages, as far as they are there. in_names: semaphores at which somebody may be next besides; NULL: none.
in_wait: see _queue_slot_lock. in_now: the time of the call.
Locks: the semaphores, in the order of their names; then as _queue_slot_next.'
begin
    declare v_names, v_locked, v_lines longtext character set utf8mb4;
    declare v_name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_entry, v_woken bigint;
    declare v_waits, v_ready, v_held, v_done boolean default false;
    declare e cursor for select distinct j.entry from json_table(in_entries, '$[*]' columns (entry bigint path '$')) j order by j.entry;
    declare n cursor for
        select distinct j.name from json_table(v_names, '$[*]' columns (name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$')) j
            left join queue_semaphore s on s.name = j.name
        where s.name is null or json_contains(v_locked, json_quote(j.name));
    declare continue handler for not found set v_done = true;
    set in_entries = coalesce(in_entries, '[]');
    /*M!100600 set statement group_concat_max_len = 1000000000 for */
    select json_arrayagg(h.name) into v_names
    from json_table(in_entries, '$[*]' columns (entry bigint path '$')) j
        straight_join queue_semaphore_slot h force index (primary) on h.entry = j.entry;
    set v_names = json_merge_preserve(coalesce(in_names, '[]'), coalesce(v_names, '[]'));
    call _queue_slot_lock(v_names, in_wait, v_locked);
    open e;
    entries: loop
        set v_done = false;
        fetch e into v_entry;
        if v_done then
            leave entries;
        end if;
        set v_waits = false, v_ready = false, v_held = false;
        select q.ready_at is null and q.due_at is null and q.reserved_at is null, q.ready_at is not null and q.reserved_at is null,
            q.reserved_at is not null and q.scheduled_at > in_now
        into v_waits, v_ready, v_held from delayed_queue q where q.entry = v_entry;
        delete h from queue_semaphore_slot h where h.entry = v_entry and not v_held and not (v_ready and h.until < 0);
        delete w from queue_semaphore_wait w where w.entry = v_entry and not v_waits;
    end loop;
    close e;
    set v_lines = '[]', v_done = false;
    open n;
    names: loop
        fetch n into v_name;
        if v_done then
            leave names;
        end if;
        set v_lines = json_array_append(v_lines, '$', v_name);
    end loop;
    close n;
    while json_length(v_lines) > 0 do
        set v_name = null;
        select json_unquote(json_extract(v_lines, '$[0]')) into v_name;
        if json_length(v_lines) > 1 then -- the line whose first is the oldest
            select o.name into v_name
            from (
                select j.name, (select min(w.entry) from queue_semaphore_wait w where w.name = j.name) as entry
                from json_table(v_lines, '$[*]' columns (name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$')) j) o
            order by o.entry is null, o.entry limit 1;
        end if;
        call _queue_slot_next(v_name, null, if(json_length(v_lines) > 1, 1, 9223372036854775807), in_now, v_woken);
        if v_woken = 0 or json_length(v_lines) = 1 then
            select json_arrayagg(j.name) into v_lines
            from json_table(v_lines, '$[*]' columns (name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$')) j where j.name <> v_name;
        end if;
    end while;
end $$
delimiter ;
