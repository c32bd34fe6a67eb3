-- calls: _queue_begin_alone, _queue_commit, _queue_fail, _queue_ready, _queue_ticks, _queue_undo, _queue_wait_end,
--     _queue_wait_kinds, queue_now
create procedure queue_wait(in in_kinds longtext, in in_timeout_seconds double)
    comment 'Waits until a message of one of the kinds may be taken.
in_kinds: a JSON array of 1 to 100 kinds, or one kind as a JSON string.
in_timeout_seconds: how long at the most, 0 to 300; NULL: 5.
Result: p_kind: the first of the kinds that may have something. Another consumer may be about to take it. No row where
the time is over. A paused kind has nothing. On PostgreSQL the call waits 5 s at the most, whatever it is given; if the
server''s clock is set back meanwhile, as much longer. A statement that waits is an open snapshot, behind which nothing
can be cleaned away; clients LISTEN there, see queue_listen. Under REPEATABLE READ and SERIALIZABLE the call sees what
was there when the transaction began, and no more.
Errors: PQ001 for kinds and timeout_seconds.
Locks: no row.
Where the idea comes from: the long poll of SQS.
differs: PQ004 where a transaction is open, in which nothing new could be seen. It waits for as long as it is told to.
Of all that wait for the same kinds one looks, every 45 ms (less often where a look takes over 4.5 ms: a tenth of the
time), and the others stand in line for a named lock that it has. A wait is a connection that is busy. What has landed
in the inbox ends it too. See docs/adr/0005-waiting-on-innodb.md.'
begin
    declare v_kinds longtext collate exact;
    declare v_number, v_place int;
    declare v_lock varchar(64);
    declare v_kind varchar(100) collate exact;
    declare v_start, v_look, v_now, v_until, v_clock, v_landed bigint;
    declare v_took bigint default 0;
    declare v_open, v_killed, v_ready, v_paused boolean;
    declare v_pause int;
    declare continue handler for not found begin end;
    declare exit handler for sqlexception begin call _queue_undo(v_open); call _queue_wait_end(); resignal; end;
    again: loop
        -- each look in a transaction, and nothing of ours between them: a wait doesn't keep an upgrade waiting
        call _queue_begin_alone();
        set v_open = true;
        call _queue_ticks(v_look);
        if v_start is null then
            call _queue_wait_end();
            call _queue_wait_kinds(in_kinds, v_kinds, v_number, v_lock);
            if in_timeout_seconds not between 0 and 300 then
                call _queue_fail('PQ001', 'timeout_seconds', in_timeout_seconds,
                    'must be a number from 0 to 300');
            end if;
            set v_start = v_look, v_until = v_look + cast(round(coalesce(in_timeout_seconds, 5) * 1000000) as signed);
        end if;
        call queue_now(v_clock);
        select min(i.id) into v_landed from queue_inbox i;
        if v_landed is not null then
            set v_landed = null; -- as in _queue_ready
            select i.id into v_landed from queue_inbox i order by i.id limit 1 for update skip locked;
        end if;
        set v_place = 0, v_ready = false;
        while not v_ready and v_place < v_number do
            set v_place = v_place + 1, v_kind = substring_index(
                substring_index(v_kinds, char(0 using utf8mb4), v_place), char(0 using utf8mb4), -1);
            if v_landed is null then
                call _queue_ready(v_kind, v_clock, v_ready);
            else -- it may be of any of them: a reserve of whatever kind takes it in
                set v_paused = false;
                select k.paused into v_paused from queue_kind k where k.p_kind = v_kind;
                set v_ready = not v_paused;
            end if;
        end while;
        call _queue_ticks(v_now);
        if v_ready or v_now not between v_start and v_until - 1 then
            call _queue_wait_end();
        end if;
        call _queue_commit(true);
        set v_open = null;
        if v_ready or v_now not between v_start and v_until - 1 then
            leave again;
        elseif @pyqueue_wait is not null then -- this one looks for all
            -- two looks that were slow, one after the other: not a machine that was busy for a moment
            set v_pause = greatest(45000, least(5000000, 10 * least(v_took, v_now - v_look))), v_took = v_now - v_look;
        elseif get_lock(v_lock, 0) then
            set @pyqueue_wait = v_lock, v_pause = 45000;
        -- MySQL rounds to seconds; not for long, for who has the lock may have been stopped, see _queue_wait_end
        elseif get_lock(v_lock, /*!80000 floor */ (least((v_until - v_now) * 0.000001, 10 + 5 * rand()))) then
            set @pyqueue_wait = v_lock, v_pause = 5000; -- who had it is about to take what it has found
        else
            set v_pause = 250000; -- on MySQL the last second of a wait
        end if;
        select sleep(greatest(0, least(v_pause, v_until - v_now)) * 0.000001) into v_killed;
        if v_killed then -- KILL QUERY ends the sleep alone
            signal sqlstate '70100' set mysql_errno = 1317, message_text = 'Query execution was interrupted';
        end if;
    end loop;
    select v_kind as p_kind from (select 1 as one) o where v_ready;
end;
