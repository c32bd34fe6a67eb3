create procedure _queue_wait_end()
    comment 'Gives back the lock of those who wait, where the session has it: at the end of a wait, and before one,
because a wait that was stopped by KILL QUERY or a limit for statements has had no chance to.
differs: PostgreSQL has no need of it.'
begin
    if @pyqueue_wait is not null then
        do release_lock(@pyqueue_wait);
        set @pyqueue_wait = null;
    end if;
end;
