-- calls: _queue_permits_note
-- changes: delayed_queue, queue_kind, queue_semaphore_wait
create procedure _queue_line_up(in in_entries longtext)
    comment 'Puts messages that name semaphores in line for them, out of the ready line; _queue_permits_settle wakes
those for which there is room. What is delayed waits for its time first. Their kind is marked, so that queue_reserve
knows.
in_entries: messages of one kind, a JSON array; those without semaphores, and dead letters, which need none, stay as
they are.
Locks: the messages; the settings of a kind that had no such message before.
differs: they are noted for the end of the call.'
begin
    declare v_entries, v_names longtext;
    declare v_kind varchar(100) collate exact;
    select json_arrayagg(l.entry + 0), json_objectagg(l.entry, json_extract(l.semaphores, '$')) -- see _queue_leaves
    into v_entries, v_names
    from (
        select q.entry, q.semaphores from messages(in_entries) q
        where q.semaphores is not null and q.source_kind is null and q.reserved_at is null
        for update of q) l;
    if v_entries is not null then
        update messages(v_entries) q set q.ready_rank = null, q.ready_at = null;
        insert into queue_semaphore_wait (entry, name, p_kind)
        select q.entry, json_value(q.semaphores, '$[0]'), q.p_kind from messages(v_entries) q where q.due_at is null
        on duplicate key update entry = queue_semaphore_wait.entry;
        select max(q.p_kind) into v_kind from messages(v_entries) q
            left join queue_kind k on k.p_kind = q.p_kind and k.semaphores
        where k.p_kind is null;
        if v_kind is not null then -- all of them are of one kind
            insert into queue_kind (p_kind, semaphores) values (v_kind, true) on duplicate key update semaphores = true;
        end if;
        select json_arrayagg(n.name) into v_names
        from (
            select distinct j.name from json_table(v_names, '$.*[*]'
                columns (name varchar(100) collate exact path '$')) j) n;
        call _queue_permits_note(v_entries, v_names);
    end if;
end;
