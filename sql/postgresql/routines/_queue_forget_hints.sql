create or replace function _queue_forget_hints(in_kind text, in_before bigint) returns void
    language plpgsql as $$
begin
    delete from queue_hint h
    where h.ctid = any (array(
        select o.ctid from queue_hint o where o.p_kind = in_kind and o.id < in_before for update skip locked));
end $$;

comment on function _queue_forget_hints(text, bigint) is
$$Removes hints that nobody needs any longer.
in_kind: the kind. in_before: those with a smaller number.
Locks: the hints; what others have locked is left.$$;
