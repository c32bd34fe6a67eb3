-- changes: queue_kind
create procedure _queue_lock_kinds()
    comment 'Lets one transaction at a time change settings of kinds: two that define at once could close a circle of
dead letters.
Locks: a row of queue_kind that is no kind, to the end of the transaction.
differs: PostgreSQL locks the table, which a procedure can''t.'
begin
    -- it stays: where a row that is waited for goes away, InnoDB lets those who wait deadlock
    insert into queue_kind (p_kind) values ('') on duplicate key update p_kind = '';
end;
