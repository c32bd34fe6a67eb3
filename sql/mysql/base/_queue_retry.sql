-- calls: _queue_undo
create procedure _queue_retry(in in_own boolean, inout out_tries int)
    comment 'What a call does that the server has chosen as the victim of a deadlock: in a transaction of its own it is
made again, since all of it has been undone; in the caller''s the caller has to begin again. So where MariaDB has
innodb_snapshot_isolation on, the default from 11.6 on, and a row has changed that a statement waited for (1020): that
undoes the transaction just the same. A victim that waits to number what it writes down is told so by 1467 on MariaDB.
in_own: see _queue_begin. out_tries: how often it was tried; 20 times at the most.
Errors: the server''s 1213, where it can''t be made again.
differs: only here, see _queue_begin.'
begin
    call _queue_undo(in_own);
    set out_tries = out_tries + 1;
    if out_tries > 20 or in_own is not true then
        signal sqlstate '40001' set mysql_errno = 1213,
            message_text = 'Deadlock found when trying to get lock; try restarting transaction';
    end if;
    do sleep(rand() * 0.002 * out_tries);
end;
