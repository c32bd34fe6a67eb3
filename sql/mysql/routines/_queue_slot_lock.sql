drop procedure if exists _queue_slot_lock;
delimiter $$
create procedure _queue_slot_lock(in in_names longtext character set utf8mb4, in in_wait boolean, out out_locked longtext character set utf8mb4)
    comment 'Locks semaphores, without which no slot is taken or given: the last that a call locks, so that whoever waits for one keeps
nobody waiting that has it.
in_names: the semaphores. in_wait: false: what others have locked is left out, which is for who has locked some already.
Result: the names of those that are there and locked.
Locks: these rows, in the order of their names.differs: the result is out_locked, a JSON array; and @pyqueue_slot_held says to the end of the call that some are locked.'
begin
    declare v_all, v_more longtext character set utf8mb4 default in_names;
    declare v_name, v_found varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_place, v_looks int default 0;
    declare v_entry bigint;
    declare v_done boolean default false;
    declare c cursor for
        select distinct j.name from json_table(v_all, '$[*]' columns (name varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */ path '$')) j order by j.name;
    declare continue handler for not found set v_done = true;
    -- with those of who may be next, because to lock them later would be out of order
    while in_wait and v_place < json_length(in_names) do
        set v_name = json_unquote(json_extract(in_names, concat('$[', v_place, ']'))), v_place = v_place + 1, v_looks = 0, v_entry = -1;
        while v_looks < 3 and v_entry is not null do
            select min(w.entry) into v_entry from queue_semaphore_wait w where w.name = v_name and w.entry > v_entry;
            set v_more = null, v_looks = v_looks + 1;
            select q.semaphores into v_more from delayed_queue q where q.entry = v_entry;
            set v_all = json_merge_preserve(v_all, coalesce(v_more, '[]'));
        end while;
    end while;
    set out_locked = '[]', v_done = false;
    open c;
    names: loop
        fetch c into v_name;
        if v_done then
            leave names;
        end if;
        set v_found = null;
        if in_wait then
            select s.name into v_found from queue_semaphore s where s.name = v_name for update;
        else
            select s.name into v_found from queue_semaphore s where s.name = v_name for update skip locked;
        end if;
        set v_done = false;
        if v_found is not null then
            set out_locked = json_array_append(out_locked, '$', v_found), @pyqueue_slot_held = true;
        end if;
    end loop;
    close c;
end $$
delimiter ;
