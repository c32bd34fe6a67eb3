-- calls: _queue_again, _queue_begin, _queue_commit, _queue_set_paused, _queue_undo
drop procedure if exists queue_resume;
delimiter $$
create procedure queue_resume(in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)
    comment 'Ends the pause of a kind, and its draining.
in_kind: the kind.
Result: changed: false where it was neither paused nor drained.
Errors: PQ001 for kind.
Locks: the settings of the kind.'
begin
    declare v_tries int default 0;
    declare v_own, v_changed boolean;
    again: loop
        begin
            declare exit handler for 1213, 1020 call _queue_again(v_own, v_tries);
            declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
            call _queue_begin(v_own);
            call _queue_set_paused(in_kind, false, v_changed);
            call _queue_commit(v_own);
            leave again;
        end;
    end loop;
    select v_changed as changed;
end $$
delimiter ;
