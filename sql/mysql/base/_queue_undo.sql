create procedure _queue_undo(in in_own boolean)
    comment 'Ends a call that failed: undoes all that it did, and nothing that the caller did before. The handler that
calls it raises the error again.
in_own: see _queue_begin; NULL: it failed before.
differs: only here, see _queue_begin.'
begin
    -- after a deadlock there is no savepoint any more: the server has undone the whole transaction
    declare continue handler for 1305 begin end;
    if in_own then
        rollback and no chain no release;
    elseif not in_own then
        rollback to savepoint pyqueue_begin;
    end if;
    set @pyqueue_own = null, @pyqueue_members = null, @pyqueue_permit_names = null, @pyqueue_permit_entries = null,
        @pyqueue_permit_held = null, @pyqueue_cursors = '{}', @pyqueue_slots = '{}'; -- they may be why it failed
end;
