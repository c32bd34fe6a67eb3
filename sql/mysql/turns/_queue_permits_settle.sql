-- calls: _queue_permits_lock, _queue_permits_next, _queue_permits_wake
-- changes: queue_semaphore_permit, queue_semaphore_wait
create procedure _queue_permits_settle(in in_entries longtext, in in_names longtext, in in_wait boolean,
    in in_now bigint)
    comment 'Frees the permits of messages that are held or ready no more, and wakes who is next: the end of each call
that ends holds, or puts in what waits. After it a call puts in no key and waits for no message.
in_entries: these messages, as far as they are there. in_names: semaphores at which somebody may be next besides; NULL:
none.
in_wait: see _queue_permits_lock. in_now: the time of the call.
Locks: the semaphores, in the order of their names; then as _queue_permits_next.'
begin
    declare v_names, v_locked, v_list, v_lines longtext;
    declare v_name varchar(100) collate exact;
    declare v_woken bigint;
    declare v_done boolean;
    set in_entries = coalesce(in_entries, '[]');
    select json_arrayagg(h.name) into v_names from unnest(in_entries) j (entry bigint)
        straight_join queue_semaphore_permit h force index (primary) on h.entry = j.entry;
    set v_names = json_merge_preserve(coalesce(in_names, '[]'), coalesce(v_names, '[]'));
    call _queue_permits_lock(v_names, in_wait, v_locked);
    -- of each: whether it is held, is ready, waits
    select json_arrayagg(json_array(j.entry, coalesce(q.reserved_at is not null and q.scheduled_at > in_now, 0),
        coalesce(q.ready_at is not null and q.reserved_at is null, 0), q.entry is not null and q.ready_at is null
        and q.due_at is null and q.reserved_at is null))
    into v_list
    from unnest(in_entries) j (entry bigint) left join delayed_queue q force index (primary) on q.entry = j.entry;
    if v_list is not null then
        delete h from unnest(v_list) j (entry bigint, held int, ready int)
            straight_join queue_semaphore_permit h force index (primary) on h.entry = j.entry
        where not j.held and not (j.ready and h.until < 0);
        delete w from json_table(v_list, '$[*]' columns (entry bigint path '$[0]', waits int path '$[3]')) j
            straight_join queue_semaphore_wait w force index (primary) on w.entry = j.entry
        where not j.waits;
    end if;
    call _queue_permits_wake(v_names, v_locked, in_now, v_lines, v_done);
    while not v_done and json_length(v_lines) > 0 do
        set v_name = json_unquote(json_extract(v_lines, '$[0]'));
        if json_length(v_lines) > 1 then -- the line whose first is the oldest
            select o.name into v_name
            from (
                select j.name, (select min(w.entry) from queue_semaphore_wait w where w.name = j.name) as entry
                from unnest(v_lines) j (name varchar(100) collate exact)) o
            order by o.entry is null, o.entry limit 1;
        end if;
        call _queue_permits_next(v_name, null, if(json_length(v_lines) > 1, 1, 9223372036854775807), in_now, v_woken);
        if v_woken = 0 or json_length(v_lines) = 1 then
            select json_arrayagg(j.name) into v_lines
            from unnest(v_lines) j (name varchar(100) collate exact) where j.name <> v_name;
        end if;
    end while;
end;
