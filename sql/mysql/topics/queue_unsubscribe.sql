-- calls: _queue_again, _queue_begin, _queue_check_kind, _queue_check_topic, _queue_commit, _queue_undo
-- changes: queue_subscription
drop procedure if exists queue_unsubscribe;
delimiter $$
create procedure queue_unsubscribe(in in_pattern text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */, in in_kind text character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */)
    comment 'Ends a subscription. What the kind has got stays there.
in_pattern: the pattern, as it was subscribed. in_kind: the kind.
Result: changed: false where that kind didn''t have that pattern.
Errors: PQ001 for pattern and kind.
Locks: the subscription.'
begin
    declare v_own boolean;
    declare v_tries int default 0;
    declare v_changed boolean;
    again: loop
        begin
            declare exit handler for 1213, 1020 call _queue_again(v_own, v_tries);
            declare exit handler for sqlexception begin call _queue_undo(v_own); resignal; end;
            call _queue_begin(v_own);
            call _queue_check_topic(in_pattern, 'pattern');
            call _queue_check_kind(in_kind, 95, 'kind');
            select count(*) > 0 into v_changed from queue_subscription s where s.pattern = in_pattern and s.p_kind = in_kind for update;
            delete s from queue_subscription s where s.pattern = in_pattern and s.p_kind = in_kind;
            call _queue_commit(v_own);
            leave again;
        end;
    end loop;
    select v_changed as changed;
end $$
delimiter ;
