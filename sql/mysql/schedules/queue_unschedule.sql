-- calls: _queue_again, _queue_begin, _queue_check_kind, _queue_commit, _queue_undo
-- changes: queue_recurring
drop procedure if exists queue_unschedule;
delimiter $$
create procedure queue_unschedule(in in_name text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)
    comment 'Ends a schedule. What it has pushed stays.
in_name: its name.
Result: changed: false where there was none of that name.
Errors: PQ001 for name.
Locks: the schedule.'
begin
    declare v_own boolean;
    declare v_tries int default 0;
    declare v_changed boolean;
    again: loop
        begin
            declare exit handler for 1213, 1020 call _queue_again(v_own, v_tries);
            declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
            call _queue_begin(v_own);
            call _queue_check_kind(in_name, 100, 'name');
            select count(*) > 0 into v_changed from queue_recurring r where r.name = in_name for update;
            delete r from queue_recurring r where r.name = in_name;
            call _queue_commit(v_own);
            leave again;
        end;
    end loop;
    select v_changed as changed;
end $$
delimiter ;
