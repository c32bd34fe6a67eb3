-- calls: _queue_begin, _queue_fail, _queue_undo
create procedure _queue_begin_alone()
    comment 'Begins a transaction, READ COMMITTED, for a call that has no business in another: who waits in one would
see nothing new, or keep others from cleaning away what is old.
Errors: PQ004 where a transaction is open; without autocommit each statement opens one. Where a killed call left it, see
_queue_begin, it is undone.
Locks: the metadata of queue_gate until _queue_commit: while an upgrade replaces routines, calls wait here.
differs: PostgreSQL has no need of it.'
begin
    declare v_own boolean;
    -- what the server says of SET TRANSACTION inside of one
    declare exit handler for 1568 begin
        call _queue_begin(v_own); -- which fails where a killed call left it
        call _queue_fail('PQ004', 'transaction', 'open', 'must be ended: who waits in one sees nothing new');
    end;
    declare exit handler for sqlexception begin call _queue_undo(true); resignal; end;
    set transaction isolation level read committed;
    start transaction;
    savepoint pyqueue_own;
    select coalesce(max(g.id), true) into @pyqueue_own from queue_gate g; -- which is empty
end;
