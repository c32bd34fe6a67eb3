create or replace function _queue_shared_cursor(in_kind text, in_now bigint) returns queue_cursor language plpgsql as $$
declare
    v_cursor queue_cursor;
begin
    select c.* into v_cursor from queue_cursor c where c.p_kind = in_kind order by c.id desc limit 1;
    if in_now < any (v_cursor.places) then
        return null;
    end if;
    return v_cursor;
end $$;

comment on function _queue_shared_cursor(text, bigint) is
$$The cursor that another session left for those that have none.
in_kind: the kind. in_now: the time of the call.
Result: the cursor; NULL where there is none, or it is of the future.$$;
