-- calls: _queue_permits_room
create procedure _queue_permits_lacking(in in_names longtext, in in_but varchar(100) collate exact, in in_all boolean,
    in in_now bigint, out out_lacks varchar(100) collate exact)
    comment 'Which of some semaphores has no room.
in_names: a JSON array. in_but: one that needn''t be looked at, which is locked; NULL: all are. in_all, in_now: see
_queue_permits_room.
out_lacks: the first that has none; NULL: all have; empty: another has locked one of them.
Locks: these semaphores, where in_but is given; what others have locked is left.
differs: on PostgreSQL it is a part of _queue_permits_next and of _queue_permits_take.'
begin
    declare v_place int default 0;
    declare v_there int;
    declare v_room bigint;
    declare v_name, v_found varchar(100) collate exact;
    declare continue handler for not found begin end;
    set out_lacks = null;
    names: while v_place < json_length(in_names) do
        set v_name = json_unquote(json_extract(in_names, concat('$[', v_place, ']'))), v_place = v_place + 1,
            v_found = null;
        if v_name <=> in_but then
            iterate names;
        end if;
        select s.name into v_found from queue_semaphore s where s.name = v_name for update skip locked;
        if v_found is null then
            select count(*) into v_there from queue_semaphore s where s.name = v_name;
            if v_there > 0 then
                set out_lacks = '';
                leave names;
            end if;
        else
            call _queue_permits_room(v_name, in_all, in_now, v_room);
            if v_room <= 0 then
                set out_lacks = v_name;
                leave names;
            end if;
        end if;
    end while;
end;
