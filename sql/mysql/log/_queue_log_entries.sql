-- calls: _queue_log
drop procedure if exists _queue_log_entries;
delimiter $$
create procedure _queue_log_entries(in in_entries longtext character set utf8mb4, in in_now bigint)
    comment 'Appends messages that came in to the log, where their kinds have log_seconds.
in_entries: a JSON array of their entries; those that aren''t there are left out. in_now: the time of the call.
Locks: as _queue_log_open.
differs: on PostgreSQL it is _queue_log.'
begin
    declare v_entry bigint;
    declare v_done boolean default false;
    declare c cursor for
        select q.entry
        from json_table(in_entries, '$[*]' columns (entry bigint path '$')) j
            straight_join delayed_queue q force index (primary) on q.entry = j.entry
            straight_join queue_kind k on k.p_kind = q.p_kind and k.log_seconds > 0
        order by q.entry;
    open c;
    messages: loop
        begin
            declare continue handler for not found set v_done = true;
            fetch c into v_entry;
        end;
        if v_done then
            leave messages;
        end if;
        call _queue_log(v_entry, 'pushed', null, null, null, in_now);
    end loop;
    close c;
end $$
delimiter ;
