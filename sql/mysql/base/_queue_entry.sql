-- calls: _queue_epoch
create procedure _queue_entry(out out_entry bigint)
    comment 'Gives one number, for an entry: greater than all that were given before it was asked for, whichever server
gave them.
out_entry: the number.
Locks: none.
differs: on PostgreSQL the column is an identity. See _queue_epoch.'
begin
    declare v_shift bigint;
    call _queue_epoch(v_shift);
    set out_entry = ((uuid_short() << 8) & 9223372036854775807) + v_shift;
end;
