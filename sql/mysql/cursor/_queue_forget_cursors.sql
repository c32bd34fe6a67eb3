-- changes: queue_cursor
create procedure _queue_forget_cursors(in in_kind text collate exact, in in_before bigint unsigned)
    comment 'Removes shared cursors that nobody needs any longer.
in_kind: the kind. in_before: those with a smaller number; NULL: all.
Locks: their rows; what others have locked is left.'
begin
    declare v_ids longtext;
    select json_arrayagg(c.id) into v_ids
    from (
        select o.id from queue_cursor o force index (queue_cursor_kind)
        where o.p_kind = in_kind and o.id + 0 < coalesce(in_before, 18446744073709551615) for update skip locked) c;
    if v_ids is not null then
        delete c from unnest(v_ids) j (id bigint unsigned)
            straight_join queue_cursor c force index (primary) on c.id = j.id;
    end if;
end;
