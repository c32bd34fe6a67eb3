-- changes: queue_cursor
create or replace function _queue_forget_cursors(in_kind text, in_before bigint) returns void
    language plpgsql as $$
begin
    delete from queue_cursor c
    where c.ctid = any (array(
        select o.ctid from queue_cursor o
        where o.p_kind = in_kind and o.id < coalesce(in_before, 9223372036854775807) for update skip locked));
end $$;

comment on function _queue_forget_cursors(text, bigint) is
$$Removes shared cursors that nobody needs any longer.
in_kind: the kind. in_before: those with a smaller number; NULL: all.
Locks: their rows; what others have locked is left.$$;
