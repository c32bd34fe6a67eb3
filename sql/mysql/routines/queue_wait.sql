drop procedure if exists queue_wait;
delimiter $$
create procedure queue_wait(in in_kinds longtext character set utf8mb4, in in_timeout_seconds decimal(30,6))
    comment 'Waits until a message of one of the kinds may be taken.
in_kinds: a JSON array of 1 to 100 kinds, or one kind as a JSON string. in_timeout_seconds: how long at the most, 0 to 300; NULL: 5.
Result: p_kind: the first of the kinds that may have something, which others may be about to take; no row where the time is over.
A paused kind has nothing.
On PostgreSQL it waits 5 s at the most, whatever it is given, since a statement that waits is an open snapshot, behind which nothing can be
cleaned away (clients LISTEN there, see queue_listen), and under REPEATABLE READ and SERIALIZABLE it sees what was there when the
transaction began, and no more.
Errors: PQ001 for kinds and timeout_seconds.
Locks: no row.
Where the idea comes from: the long poll of SQS.
differs: PQ004 where a transaction is open, in which nothing new could be seen. It waits for as long as it is told to. Of all that wait for the
same kinds one looks, every 30 ms (less often where a look takes over a millisecond), and the others stand in line for a named lock
that it has. A wait is a connection that is busy. What has landed in the inbox ends it too. See docs/adr/0005-waiting-on-innodb.md.'
begin
    declare v_kinds longtext character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_number int;
    declare v_lock varchar(64) character set utf8mb4;
    declare v_kind varchar(100) character set utf8mb4 collate /*!80017 utf8mb4_0900_bin *//*M!100600 utf8mb4_nopad_bin */;
    declare v_start, v_look, v_now, v_until bigint;
    declare v_open, v_first boolean;
    declare v_pause decimal(20,6);
    declare exit handler for sqlexception begin call _queue_undo(v_open); call _queue_wait_end(); resignal; end;
    call _queue_wait_end();
    call _queue_wait_kinds(in_kinds, v_kinds, v_number, v_lock);
    if in_timeout_seconds not between 0 and 300 then
        call _queue_fail('PQ001', 'timeout_seconds', trim(trailing '.' from trim(trailing '0' from in_timeout_seconds)),
            'must be a number from 0 to 300');
    end if;
    call _queue_ticks(v_start);
    set v_look = v_start, v_until = v_start + coalesce(in_timeout_seconds, 5) * 1000000;
    again: loop
        call _queue_begin_alone();
        set v_open = true;
        call _queue_ready_kind(v_kinds, v_number, v_kind);
        call _queue_commit(true);
        set v_open = null;
        call _queue_ticks(v_now);
        if v_kind is not null or v_now not between v_start and v_until - 1 then
            leave again;
        end if;
        if @pyqueue_wait is not null then -- this one looks for all
            set v_pause = greatest(30000, 20 * (v_now - v_look));
        else
            -- MySQL rounds to seconds; not for long, for who has the lock may have been stopped, see _queue_wait_end
            set v_first = get_lock(v_lock, floor(least((v_until - v_now) * 0.000001, 5 + 5 * rand())));
            if v_first then
                set @pyqueue_wait = v_lock;
            end if;
            set v_look = v_now;
            call _queue_ticks(v_now);
            -- who had it before is about to take what it has found
            set v_pause = case when v_first is not true then 100000 when v_now - v_look < 2000 then 30000 else 5000 end;
        end if;
        do sleep(greatest(0, least(v_pause, v_until - v_now)) * 0.000001);
        call _queue_ticks(v_look);
    end loop;
    call _queue_wait_end();
    select v_kind as p_kind from (select 1 as one) o where v_kind is not null;
end $$
delimiter ;
