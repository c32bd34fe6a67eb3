-- changes: queue_cursor
create procedure _queue_forget_cursors(in in_kind text collate exact, in in_before bigint unsigned)
    comment 'Removes shared cursors that nobody needs any longer.
in_kind: the kind. in_before: those with a smaller number; NULL: all.
Locks: their rows; what others have locked is left.'
begin
    delete c from queue_cursor c force index (queue_cursor_kind)
    where c.p_kind = in_kind and c.id + 0 < coalesce(in_before, 18446744073709551615)
    skip locked by (id bigint unsigned);
end;
