-- calls: _queue_fail, _queue_undo
create procedure _queue_begin(out out_own boolean)
    comment 'Begins a call: in the caller''s transaction where there is one, else in one of its own, because under
autocommit each statement of a procedure would be a transaction for itself.
out_own: whether the transaction is the call''s own. Then it is READ COMMITTED, in which nobody blocks who puts messages
in. The savepoint pyqueue_own marks it.
Errors: PQ004 where that savepoint is there already: MySQL ends a call by KILL QUERY without its handlers, so that its
transaction stays open, and all that the session did since is part of it. All of that is undone first. Neither server
runs them where it has no room for a sort or a temporary table (1038, 1114).
Locks: the metadata of queue_gate until the transaction ends: while an upgrade replaces routines, calls wait here.
differs: PostgreSQL has no need of it. An upgrade leaves this routine alone while its text is the same.'
begin
    declare v_none boolean default false;
    declare continue handler for 1305 set v_none = true;
    -- here, because who called is never told that the transaction is its own
    declare exit handler for sqlexception begin call _queue_undo(out_own); resignal; end;
    -- a savepoint outlives its statement only inside of a transaction
    if @@session.autocommit then
        savepoint pyqueue_begin;
        release savepoint pyqueue_begin;
    end if;
    set out_own = v_none;
    if out_own then
        set transaction isolation level read committed;
        start transaction;
        savepoint pyqueue_own; -- before an engine is part of it, so that the binary log has nothing of it
    else
        savepoint pyqueue_begin;
        release savepoint pyqueue_own;
        if not v_none then
            set out_own = true;
            call _queue_fail('PQ004', 'transaction', 'open',
                'is of a call that was killed (1317) or had no room (1038), and undone with all since: begin again');
        end if;
    end if;
    select coalesce(max(g.id), out_own) into @pyqueue_own from queue_gate g; -- which is empty
    -- what a session keeps between calls it can write itself: a hint, and none where it can't be read
    if json_valid(convert(@pyqueue_cursors using utf8mb4)) is not true or charset(@pyqueue_cursors) = 'binary' then
        set @pyqueue_cursors = '{}';
    end if;
    if json_valid(convert(@pyqueue_slots using utf8mb4)) is not true or charset(@pyqueue_slots) = 'binary' then
        set @pyqueue_slots = '{}';
    end if;
    set @pyqueue_members = null, @pyqueue_permit_names = null, @pyqueue_permit_entries = null,
        @pyqueue_permit_held = null;
end;
