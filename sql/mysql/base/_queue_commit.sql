-- calls: _queue_members_settle, _queue_permits_end
create procedure _queue_commit(in in_own boolean)
    comment 'Ends a call that went well: commits its own transaction and leaves the caller''s alone.
in_own: see _queue_begin. What it noted of members of groups and of messages with semaphores is seen to first.
differs: only here, see _queue_begin.'
begin
    if @pyqueue_members is not null then
        call _queue_members_settle();
    end if;
    if @pyqueue_permit_names is not null then
        call _queue_permits_end();
    end if;
    if in_own then
        commit and no chain no release; -- whatever completion_type the session has
    end if;
    set @pyqueue_own = null, @pyqueue_permit_held = null;
end;
